/** Calls a deployment with any request, requests the signatures that several rules use, and reads the count. */

import { type KeyObject, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../../src/crypto/algorithms.ts';
import { type Envelope, isObject, readEnvelope } from './envelope.ts';
import { createHttp, type HttpAnswer, type HttpRequest, NoAnswer } from './http.ts';
import { createMask } from './mask.ts';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: string;
}

export interface DeploymentOptions {
  /** Addresses of one deployment, which are used in turn. */
  readonly baseUrls: readonly URL[];
  readonly code: string;
  readonly credentials: Credentials;
  readonly otherClient?: Credentials | undefined;
  /** PEM roots that replace Node's own. */
  readonly ca?: readonly string[] | undefined;
  readonly key?: KeyObject | undefined;
  /** Returns the number of signatures that the service has counted for the client. */
  readonly count?: (() => Promise<number>) | undefined;
  /** Time limit of one call, in milliseconds. */
  readonly timeout: number;
  /** After more signatures than this, the run ends. */
  readonly limit: number;
}

/** The request and the response, without secrets, as printed text. */
export interface Exchange {
  readonly request: string;
  readonly answer: string;
}

export interface Answer extends Omit<HttpAnswer, 'body'>, Envelope {
  readonly exchange: Exchange;
  readonly text: string;
  readonly ok: boolean;
  header(name: string): string | undefined;
  /** `data.signature` of a successful call (4.1 rule 1). */
  readonly signature: string | undefined;
  readonly id: unknown;
}

export interface Call {
  readonly method?: string;
  /** undefined sends the correct credentials, null sends no header, and a list sends several headers. */
  readonly authorization?: string | null | readonly string[] | undefined;
  /** Headers that replace or extend those of section 4; null omits a header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A string is sent unchanged, and any other value as JSON. */
  readonly body?: unknown;
  /** Returns a 429 or 503 response instead of retrying. */
  readonly impatient?: boolean;
}

export type Body = Readonly<Record<string, unknown>>;

/** A signature that several rules use. */
export interface Signed {
  readonly algorithm: DigestAlgorithm;
  readonly digest: Uint8Array;
  readonly answer: Answer;
}

export type Deployment = ReturnType<typeof openDeployment>;

/** Thrown if a rule cannot be asked because an earlier step failed; another rule reports that failure. */
export class CannotAsk extends Error {
  override readonly name = 'CannotAsk';
}

/** Thrown if the service made more signatures than the announced maximum. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

export const SIGN = '/v1/codesign/sign';
export const REPORT = '/v1/codesign/report-sign';
const ATTEMPTS = 5;
/** Limit on the wait that Retry-After requests, in seconds. */
const LONGEST_WAIT = 10;
/** Milliseconds to wait before the count is read, because a service may count wrongly after its response. */
const AFTER_AN_ANSWER = 20;

export function basic({ accessKey, accessSecret }: Credentials): string {
  return `Basic ${encoded(`${accessKey}:${accessSecret}`)}`;
}

export function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function openDeployment(options: DeploymentOptions) {
  const { baseUrls, code, credentials, otherClient, ca, timeout, limit } = options;
  const http = createHttp(ca, timeout);
  const clients = [credentials, ...(otherClient ? [otherClient] : [])];
  const mask = createMask(
    clients.flatMap((client) => [client.accessSecret, basic(client).slice(6), ...variants(basic(client).slice(6))]),
  );
  const shared = new Map<DigestAlgorithm, Promise<Signed>>();
  let given = 0;
  let spent = 0;
  let calls = 0;

  const request = (operation: string, { method = 'POST', authorization, headers = {}, body }: Call): HttpRequest => {
    const { href } = baseUrls[calls % baseUrls.length] as URL;
    calls += 1;
    const authorizations = authorization === undefined ? basic(credentials) : (authorization ?? []);
    const named: Readonly<Record<string, string | null>> = {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      ...headers,
    };
    return {
      url: new URL(`${href.replace(/\/+$/, '')}${operation}`),
      method,
      headers: [
        ...Object.entries(named).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
        ...[authorizations].flat().map((value) => ['Authorization', value] as const),
      ],
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
    };
  };

  const show = ({ method, url, headers, body }: HttpRequest, digest: string | undefined): string =>
    [
      `${method} ${url.pathname}`,
      ...headers.map(([name, value]) => `${name}: ${name === 'Authorization' ? shownCredentials(value) : value}`),
      ...(body === undefined ? [] : ['', mask(body, digest)]),
    ].join('\n');

  const ask = async (operation: string, asked: Call): Promise<Answer> => {
    if (spent > limit) throw new LimitReached(`more than ${limit} signatures were given`);
    const sent = request(operation, asked);
    const digest = isObject(asked.body) && typeof asked.body.digest === 'string' ? asked.body.digest : undefined;
    const shown = show(sent, digest);
    const got = await http.send(sent).catch((error: unknown) => {
      if (error instanceof NoAnswer) throw new NoAnswer(mask(error.message), { cause: shown });
      throw error;
    });
    const answer = readAnswer(got, { request: shown, answer: `HTTP ${got.status}\n${mask(got.body, digest)}` });
    if (answer.signature !== undefined) given += 1;
    if (isObject(answer.data) && answer.data.signature) spent += 1;
    return answer;
  };
  const call = async (operation: string, asked: Call = {}): Promise<Answer> => {
    let answer = await ask(operation, asked);
    for (let attempt = 1; attempt < ATTEMPTS && isTurnedAway(answer) && !asked.impatient; attempt++) {
      await sleep(1000 * Math.min(Number(answer.header('retry-after') ?? 1) || 0, LONGEST_WAIT));
      answer = await ask(operation, asked);
    }
    return answer;
  };
  /** A valid `sign` request with a new random digest. */
  const body = (algorithm: DigestAlgorithm = 'SHA256', digest?: Uint8Array): Body => ({
    code,
    digest: Buffer.from(digest ?? randomBytes(DIGEST_LENGTH[algorithm])).toString('base64'),
    algorithm,
    padding: 'PKCS1',
  });
  const sign = (asked: unknown, how: Call = {}) => call(SIGN, { ...how, body: asked });
  /** A request with a known certificate that no deployment can sign: digest, algorithm and padding are wrong. */
  const refusedBody = (): Body => ({ code, digest: '', algorithm: 'CONFORMANCE', padding: 'CONFORMANCE' });
  const credentialsFirst = async () => (await sign(refusedBody(), { authorization: null })).code === 401;
  let credentialsAreFirst: Promise<boolean> | undefined;
  /** Returns the shared signature of this algorithm; `answer` may also be a rejection. */
  const signed = (algorithm: DigestAlgorithm = 'SHA256') => {
    const known = shared.get(algorithm);
    if (known !== undefined) return known;
    const digest = randomBytes(DIGEST_LENGTH[algorithm]);
    const asked = sign(body(algorithm, digest)).then((answer) => ({ algorithm, digest, answer }));
    shared.set(algorithm, asked);
    return asked;
  };

  return {
    options,
    /** Number of successful calls (4.1 rule 1). */
    signatures: () => given,
    /** Number of answers that contained a value for a signature, including answers that report a failure. */
    spent: () => spent,
    call,
    sign,
    report: (asked: unknown, how: Call = {}) => call(REPORT, { ...how, body: asked }),
    body,
    refusedBody,
    /**
     * Body of a request with wrong credentials. A deployment that checks credentials first gets `refusedBody`, so it
     * cannot make a signature by mistake. Other deployments need a valid request.
     * Throws `CannotAsk` if no signature may be made.
     */
    async strangersBody() {
      credentialsAreFirst ??= credentialsFirst();
      if (await credentialsAreFirst) return refusedBody();
      if (limit === 0)
        throw new CannotAsk(
          'the service checks parameters before credentials, so only a valid request could check this rule',
        );
      return body();
    },
    signed,
    /** The id of the shared record. Throws `CannotAsk` if it is missing. */
    async recordId() {
      const { id } = withSignature((await signed()).answer);
      if (typeof id !== 'string') throw new CannotAsk('the service returned no id');
      return id;
    },
    /** Disconnects before the response. */
    sendAndLeave: (asked: Call, linger: number) => http.sendAndLeave(request(SIGN, asked), linger),
    async count() {
      if (options.count === undefined) throw new CannotAsk('the API does not return the count: set --count-command');
      await sleep(AFTER_AN_ANSWER);
      return await options.count();
    },
    close: http.close,
  };
}

/** Throws `CannotAsk` if the service returned no signature. */
export function withSignature(answer: Answer): Answer {
  if (answer.signature === undefined) throw new CannotAsk('the service returned no signature');
  return answer;
}

/** The document does not define rate limits; deployments report them with these codes. */
export function isTurnedAway({ status, code, signature }: Answer): boolean {
  return signature === undefined && [status, code].some((each) => each === 429 || each === 503);
}

function readAnswer(got: HttpAnswer, exchange: Exchange): Answer {
  const envelope = readEnvelope(got.body);
  const { code, data } = envelope;
  const ok = got.status >= 200 && got.status < 300;
  const { id, signature } = isObject(data) ? data : {};
  const successful = ok && code === 0 && typeof signature === 'string' && signature !== '';
  return {
    ...{ status: got.status, headers: got.headers, reused: got.reused, text: got.body, exchange, ok, id },
    ...envelope,
    header: (wanted) => got.headers.find(([name]) => name.toLowerCase() === wanted)?.[1],
    signature: successful ? signature : undefined,
  };
}

/** Shows only the scheme and the length of a header that contains the correct credentials in any form. */
function shownCredentials(value: string): string {
  const scheme = /^[A-Za-z]{1,10}(?= )/.exec(value)?.[0] ?? '';
  return `${scheme} [${value.length - scheme.length} characters]`.trim();
}

function variants(base64: string): readonly string[] {
  const bare = base64.replace(/=+$/, '');
  return [bare, bare.replaceAll('+', '-').replaceAll('/', '_')];
}
