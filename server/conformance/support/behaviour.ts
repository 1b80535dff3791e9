/** Behaviours of a fake deployment. Tests can replace each part. */

import { type KeyObject, privateEncrypt } from 'node:crypto';
import { DIGEST_ALGORITHMS, DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { basic, type Credentials, REPORT, SIGN } from '../deployment.ts';
import { decodeBase64, isObject } from '../envelope.ts';
import { DIGEST_INFO_PREFIX } from '../signature.ts';

export type Check = 'code' | 'digest' | 'algorithm' | 'padding' | 'extra';
export type Counted = 'signed' | 'unauthorized' | 'parameter' | 'unreadable' | 'broken-off' | 'report';

export interface Behaviour {
  /** @param headers every Authorization header */
  readonly authorized: (headers: readonly string[]) => boolean;
  readonly challenge: string | undefined;
  readonly credentialsFirst: boolean;
  /** Error code for a method and a path; 0 if the deployment serves them. */
  readonly routing: (method: string, path: string) => number;
  /** Error code for a content type; 0 if the deployment accepts it. */
  readonly contentType: (type: string | undefined) => number;
  readonly order: readonly Check[];
  readonly certificate: (code: unknown) => boolean;
  readonly digest: (text: unknown) => Buffer | undefined;
  readonly algorithm: (name: unknown, digest: Buffer) => DigestAlgorithm | undefined;
  readonly padding: (name: unknown) => boolean;
  readonly extra: (value: unknown) => boolean;
  readonly signature: (algorithm: DigestAlgorithm, digest: Buffer) => Promise<string>;
  /** @param serial 1 for the first signature @param digest the same digest may have the same record */
  readonly record: (serial: number, digest: Buffer) => string;
  readonly report: (isKnown: boolean, report: Readonly<Record<string, unknown>>) => number;
  readonly httpStatus: (code: number) => number;
  /** Returns the body of a response. */
  readonly body: (code: number, message: string, data: unknown, authorization: string) => string;
  /** Returns the number that an event adds to the count. */
  readonly counts: (event: Counted) => number;
  /** True if the call after a disconnected client fails. */
  readonly staggers: boolean;
  readonly keepAlive: boolean;
  /** Whether the answer asks for an immediate retry. @param serial 1 for the first call */
  readonly turnsAway: (serial: number) => boolean;
}

export interface Keeper {
  readonly credentials: Credentials;
  readonly code: string;
  readonly key: KeyObject;
}

/** Behaves as the document requires. */
export function goodBehaviour({ credentials, code, key }: Keeper): Behaviour {
  return {
    authorized: ([first, ...others]) => {
      const token = /^basic +(\S+)$/i.exec(first ?? '')?.[1];
      return others.length === 0 && `Basic ${token}` === basic(credentials);
    },
    challenge: 'Basic realm="test"',
    credentialsFirst: true,
    routing: (method, path) => {
      if (path !== SIGN && path !== REPORT) return 404;
      return method === 'POST' ? 0 : 405;
    },
    contentType: () => 0,
    order: ['code', 'digest', 'algorithm', 'padding', 'extra'],
    certificate: (value) => value === code,
    digest: (text) => (typeof text === 'string' && text !== '' ? decodeBase64(text) : undefined),
    algorithm: (value, digest) =>
      DIGEST_ALGORITHMS.find((name) => name === value && DIGEST_LENGTH[name] === digest.length),
    padding: (name) => name === 'PKCS1',
    extra: (value) => value === undefined || isObject(value),
    signature: async (algorithm, digest) => signatureOver(key, digestInfo(algorithm, digest)),
    record: (serial) => `record-${serial}`,
    report: (isKnown, { status }) => (isKnown && (status === 1 || status === 2) ? 0 : 400),
    httpStatus: (refusal) => (refusal === 0 ? 200 : refusal),
    body: (refusal, message, data) => JSON.stringify({ code: refusal, message, data }),
    counts: (event) => (event === 'signed' ? 1 : 0),
    staggers: false,
    keepAlive: true,
    turnsAway: () => false,
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

export function digestInfo(algorithm: DigestAlgorithm, digest: Buffer): Buffer {
  return Buffer.concat([Buffer.from(DIGEST_INFO_PREFIX[algorithm], 'hex'), digest]);
}

export function signatureOver(key: KeyObject, padded: Buffer): string {
  return privateEncrypt(key, padded).toString('base64');
}
