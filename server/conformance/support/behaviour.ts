/** Behaviours of a fake deployment. Tests can replace each part. */

import { type KeyObject, privateEncrypt } from 'node:crypto';
import { DIGEST_ALGORITHMS, DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { basic, type Credentials, REPORT, SIGN } from '../deployment.ts';
import { decodeBase64, isObject } from '../envelope.ts';
import { digestInfo } from '../signature.ts';

export type Check = 'code' | 'digest' | 'algorithm' | 'padding' | 'extra';
export type Counted = 'signed' | 'unauthorized' | 'parameter' | 'unreadable' | 'broken-off' | 'report';

export interface Keeper {
  readonly credentials: Credentials;
  readonly code: string;
  readonly key: KeyObject;
}

export type Behaviour = Readonly<ReturnType<typeof goodBehaviour>>;

/** Behaves as the document requires. */
export function goodBehaviour({ credentials, code, key }: Keeper) {
  return {
    /** @param headers every Authorization header */
    authorized: (headers: readonly string[]) => {
      const token = /^basic +(\S+)$/i.exec(headers[0] ?? '')?.[1];
      return headers.length === 1 && `Basic ${token}` === basic(credentials);
    },
    challenge: 'Basic realm="test"' as string | undefined,
    credentialsFirst: true,
    /** Error code for a method and a path; 0 if the deployment serves them. */
    routing: (method: string, path: string): number => {
      if (path !== SIGN && path !== REPORT) return 404;
      return method === 'POST' ? 0 : 405;
    },
    /** Error code for a content type; 0 if the deployment accepts it. */
    contentType: (_type: string | undefined): number => 0,
    order: ['code', 'digest', 'algorithm', 'padding', 'extra'] as readonly Check[],
    certificate: (value: unknown) => value === code,
    digest: (text: unknown) => (typeof text === 'string' && text !== '' ? decodeBase64(text) : undefined),
    algorithm: (value: unknown, digest: Buffer) =>
      DIGEST_ALGORITHMS.find((name) => name === value && DIGEST_LENGTH[name] === digest.length),
    padding: (name: unknown): boolean => name === 'PKCS1',
    extra: (value: unknown): boolean => value === undefined || isObject(value),
    signature: async (algorithm: DigestAlgorithm, digest: Buffer) => signatureOver(key, digestInfo(algorithm, digest)),
    /** @param serial 1 for the first signature @param _digest the same digest may have the same record */
    record: (serial: number, _digest: Buffer) => `record-${serial}`,
    report: (isKnown: boolean, { status }: Readonly<Record<string, unknown>>): number =>
      isKnown && (status === 1 || status === 2) ? 0 : 400,
    httpStatus: (refusal: number) => (refusal === 0 ? 200 : refusal),
    body: (refusal: number, message: string, data: unknown, _authorization: string) =>
      JSON.stringify({ code: refusal, message, data }),
    /** The number that an event adds to the count. */
    counts: (event: Counted): number => (event === 'signed' ? 1 : 0),
    /** True if the call after a disconnected client fails. */
    staggers: false,
    keepAlive: true,
    /** True if the answer asks for an immediate retry. @param _serial 1 for the first call */
    turnsAway: (_serial: number) => false,
  };
}

/** Makes every choice that the document allows differently from the bundled server. */
export function otherBehaviour(keeper: Keeper): Partial<Behaviour> {
  const good = goodBehaviour(keeper);
  const ids = new Map<string, string>();
  return {
    authorized: (headers) => good.authorized(headers.slice(0, 1)),
    credentialsFirst: false,
    routing: (method, path) => (good.routing(method, path) === 0 ? 0 : 1404),
    contentType: (type) => (type === 'application/json' ? 0 : 1415),
    digest: (text) => good.digest(text) ?? (typeof text === 'string' ? good.digest(text.replace(/=$/, '')) : undefined),
    extra: (value) => value === undefined || (isObject(value) && !('conformance' in value)),
    record: (serial, digest) => {
      const known = ids.get(digest.toString('hex')) ?? `${serial}/x`;
      ids.set(digest.toString('hex'), known);
      return known;
    },
    report: (isKnown, report) => {
      if (!isKnown) return typeof report.id === 'string' && report.id !== '' ? 0 : 422;
      return report.status === 1 || report.status === 2 ? 0 : 42_200;
    },
    httpStatus: (code) => (code === 401 ? 403 : 200),
    body: (code, message, data) =>
      JSON.stringify({ traceId: 'x', code, message, data: isObject(data) ? { ...data, createdAt: 0 } : data }, null, 2),
  };
}

/** Corrects and accepts every value that can be corrected. */
export function forgivingBehaviour({ code }: Keeper): Partial<Behaviour> {
  const cleaned = (value: unknown) => String(Array.isArray(value) ? value[0] : (value ?? '')).trim();
  const digest = (value: unknown) => {
    const text = cleaned(value);
    return Buffer.from(text, /^([\da-f]{2}){20,}$/i.test(text) ? 'hex' : 'base64');
  };
  return {
    certificate: (value) => cleaned(value) === code,
    digest,
    algorithm: (name, { length }) => {
      const wanted = cleaned(name).toUpperCase().replace('-', '');
      const fitting = DIGEST_ALGORITHMS.find((each) => DIGEST_LENGTH[each] === length);
      return wanted === '' || wanted === fitting || wanted === 'SHA3256' ? fitting : undefined;
    },
    padding: (name) => ['', 'pkcs1', 'pss', 'oaep', 'none'].includes(cleaned(name).toLowerCase()),
    extra: () => true,
  };
}

export function signatureOver(key: KeyObject, padded: Buffer): string {
  return privateEncrypt(key, padded).toString('base64');
}
