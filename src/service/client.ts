/** The Remote Code Signing API over HTTP: sign and report-sign, repeated only where nothing can have been signed. */

import { printable } from '../errors/printable.ts';
import type { Http } from '../http/http.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import { REAL_WAITING, type Waiting } from '../http/waiting.ts';
import { Secret } from '../secrets/secret.ts';
import { type Operation, readSignatureRecord, type Show } from './answer.ts';
import { networkErrors } from './errors.ts';
import { headOf, judge, type Success } from './judge.ts';
import { PADDING, REPORT_PATH, type ReportRequestMessage, SIGN_PATH, type SignRequestMessage } from './messages.ts';
import { waitBeforeRepeat } from './repeating.ts';
import type { SigningService } from './signing-service.ts';

/** An answer is some hundred bytes; what is larger is not the service's. */
export const ANSWER_LIMIT = 1024 * 1024;

export interface SigningServiceOptions {
  /** Its path is kept: `https://host/a` is asked at `https://host/a/v1/codesign/sign`. */
  readonly baseUrl: URL;
  readonly credentials: { readonly accessKey: string; readonly accessSecret: Secret };
  readonly http: Http;
  /** For one attempt of one call; the waits between attempts are apart. */
  readonly timeoutMilliseconds: number;
  readonly clock?: ServiceClock | undefined;
}

/** Time and chance, for tests to hold still. */
export interface ServiceClock extends Waiting {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const REAL_CLOCK: ServiceClock = { now: Date.now, ...REAL_WAITING };

export function createSigningService(options: SigningServiceOptions): SigningService {
  const call = createCall(options);
  return {
    async sign({ code, digest, algorithm, extra }, signal) {
      const message: SignRequestMessage = {
        code,
        digest: Buffer.from(digest).toString('base64'),
        algorithm,
        padding: PADDING,
        ...(extra === undefined ? {} : { extra }),
      };
      const { data, httpStatus } = await call('sign', SIGN_PATH, message, signal);
      return readSignatureRecord(data, httpStatus);
    },
    async report(id, status, signal) {
      const message: ReportRequestMessage = { id, status };
      await call('report-sign', REPORT_PATH, message, signal);
    },
    close: () => options.http.close(),
  };
}

type Call = (operation: Operation, path: string, message: object, signal?: AbortSignal) => Promise<Success>;

function createCall({
  baseUrl,
  credentials,
  http,
  timeoutMilliseconds,
  clock = REAL_CLOCK,
}: SigningServiceOptions): Call {
  const { origin } = baseUrl;
  const show = showWithout(credentials);

  return async (operation, path, message, signal) => {
    const url = operationUrl(baseUrl, path);
    const body = new TextEncoder().encode(JSON.stringify(message));
    for (let attempts = 1; ; attempts += 1) {
      // A report tells of what has happened, so the first attempt is always made.
      if (signal?.aborted && (operation === 'sign' || attempts > 1)) throw networkErrors('interrupted', { operation });
      const outcome = await http.postJson({
        url,
        headers: { authorization: basicAuthorization(credentials) },
        body,
        deadlineMilliseconds: timeoutMilliseconds,
        sizeLimit: ANSWER_LIMIT,
      });
      const judged = judge(outcome, { operation, attempts, origin, show });
      if ('success' in judged) return judged.success;
      const { error, repeat } = judged;
      const retryAfter = readRetryAfter(headOf(outcome)?.headers.get('retry-after'), clock.now());
      const wait = repeat && waitBeforeRepeat({ attempts, reason: repeat, retryAfter, random: clock.random() });
      if (wait === undefined) throw error;
      await clock.sleep(wait, signal).catch((cause: unknown) => {
        throw networkErrors('interrupted', { operation: `${operation} again` }, { cause });
      });
    }
  };
}

/** `new URL('/v1/…', base)` would drop the path of the base address. */
export function operationUrl(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = baseUrl.pathname.replace(/\/+$/, '') + path;
  return url;
}

type Credentials = SigningServiceOptions['credentials'];

/** API 5, rule 3. */
export function basicAuthorization(credentials: Credentials): Secret {
  return new Secret(`Basic ${basicToken(credentials)}`);
}

function basicToken({ accessKey, accessSecret }: Credentials): string {
  return Buffer.from(`${accessKey}:${accessSecret.reveal()}`, 'utf8').toString('base64');
}

/** A service may echo what it was sent; its words are shown without the credentials in them. */
export function showWithout(credentials: Credentials): Show {
  return (text) => {
    let shown = text;
    for (const secret of [basicToken(credentials), credentials.accessSecret.reveal()]) {
      shown = secret === '' ? shown : shown.replaceAll(secret, '[secret]');
    }
    return printable(shown);
  };
}
