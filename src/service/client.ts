/** The Remote Code Signing API over HTTP: sign and report-sign, retried only where nothing can have been signed. */

import { printable } from '../errors/printable.ts';
import type { Http } from '../http/http.ts';
import type { Outcome } from '../http/request.ts';
import { type OnWait, REAL_RETRY_CLOCK } from '../http/retry.ts';
import { Secret } from '../secrets/secret.ts';
import { type SecretSearch, searchFor } from '../secrets/secret-search.ts';
import { isServiceId, readSignatureRecord, type Show, storableRecord } from './answer.ts';
import { type Call, type Calling, performCall, type ServiceClock } from './call.ts';
import { type CallRecord, maskDigest } from './call-record.ts';
import { businessErrors, recordErrors } from './errors.ts';
import { PADDING, REPORT_PATH, type ReportRequestMessage, SIGN_PATH, type SignRequestMessage } from './messages.ts';
import { createPace } from './pace.ts';
import type { SignatureRecord, SigningService } from './signing-service.ts';

/** An answer is some hundred bytes; what is larger is not the service's. */
const ANSWER_LIMIT = 1024 * 1024;

/** Where the service is, and how to reach it. */
export interface ServiceAddress {
  /** Its path is kept: a base of `https://host/a` leads to `https://host/a/v1/codesign/sign`. */
  readonly baseUrl: URL;
  readonly credentials: { readonly accessKey: string; readonly accessSecret: Secret };
  readonly http: Http;
  /** For one attempt of one call, without the waits between attempts. */
  readonly timeoutMilliseconds: number;
}

export interface SigningServiceOptions extends ServiceAddress {
  /** Concurrent requests for signatures, as long as the service does not throttle. */
  readonly concurrency?: number | undefined;
  /** Called after each attempt of each call. */
  readonly onCall?: ((record: CallRecord) => void) | undefined;
  /** Called before each wait for another attempt. */
  readonly onWait?: OnWait | undefined;
  readonly clock?: ServiceClock | undefined;
}

const REAL_CLOCK: ServiceClock = { now: Date.now, ...REAL_RETRY_CLOCK };

/** More than any caller needs concurrently. */
const UNBOUNDED = 1_000;

export function createSigningService(options: SigningServiceOptions): SigningService {
  const {
    baseUrl,
    credentials,
    http,
    concurrency = UNBOUNDED,
    onCall = () => undefined,
    onWait,
    clock = REAL_CLOCK,
  } = options;
  const pace = createPace({ most: concurrency, now: clock.now, sleep: clock.sleep });
  const calling: Calling = { origin: baseUrl.origin, show: showWithout(credentials), pace, clock, onCall, onWait };
  const secrets = secretsOf(credentials);
  /** Ids by what is stored of them. */
  const idsOfRun = new Map<string, string>();
  const storable = (id: string): string => {
    const stored = storableRecord(id, secrets);
    if (stored !== id) idsOfRun.set(stored, id);
    return stored;
  };

  return {
    sign({ code, digest, algorithm, extra, file, beforeSend, beforeRetry }, signal) {
      const message: SignRequestMessage = {
        code,
        digest: Buffer.from(digest).toString('base64'),
        algorithm,
        padding: PADDING,
        ...(extra === undefined ? {} : { extra }),
      };
      const call: Call<SignatureRecord> = {
        operation: 'sign',
        subject: { file, code, digest: maskDigest(digest, algorithm), record: undefined, status: undefined },
        send: () => postMessage(options, SIGN_PATH, message, beforeSend),
        beforeRetry,
        read({ data, httpStatus }) {
          const answer = readSignatureRecord(data, httpStatus, storable);
          if (!holdsSecret(answer, secrets)) return { answer, record: answer.id };
          const why = 'data.signature holds a credential';
          throw businessErrors('no-signature', { why }, { httpStatus, serviceCode: 0 });
        },
      };
      return performCall(call, calling, signal);
    },
    async report(record, status, signal, file) {
      const id = idsOfRun.get(record) ?? record;
      if (id === record && !isServiceId(record)) throw recordErrors('record-id-unknown', { record });
      const message: ReportRequestMessage = { id, status };
      const call: Call<void> = {
        operation: 'report-sign',
        subject: { file, code: undefined, digest: undefined, record, status },
        send: () => postMessage(options, REPORT_PATH, message),
        read: () => ({ answer: undefined }),
      };
      return performCall(call, calling, signal);
    },
    close: () => http.close(),
  };
}

/** Sends one message with the credentials, once. */
export function postMessage(
  { baseUrl, credentials, http, timeoutMilliseconds }: ServiceAddress,
  path: string,
  message: object,
  beforeSend?: () => Promise<void>,
): Promise<Outcome> {
  return http.postJson({
    url: operationUrl(baseUrl, path),
    // API 5, rule 3.
    headers: { authorization: new Secret(`Basic ${basicToken(credentials)}`) },
    body: new TextEncoder().encode(JSON.stringify(message)),
    deadlineMilliseconds: timeoutMilliseconds,
    sizeLimit: ANSWER_LIMIT,
    beforeSend,
  });
}

/** `new URL('/v1/…', base)` would drop the path of the base address. */
function operationUrl(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = baseUrl.pathname.replace(/\/+$/, '') + path;
  return url;
}

type Credentials = SigningServiceOptions['credentials'];

function basicToken({ accessKey, accessSecret }: Credentials): string {
  return Buffer.from(`${accessKey}:${accessSecret.reveal()}`, 'utf8').toString('base64');
}

/** A service may send back what it was sent: its text is shown without the credentials in it. */
export function showWithout(credentials: Credentials): Show {
  const secrets = secretsOf(credentials);
  return (text) => printable(secrets.mask(text));
}

function secretsOf(credentials: Credentials): SecretSearch {
  return searchFor([basicToken(credentials), credentials.accessSecret.reveal()]);
}

/** What is kept of a signature before it is checked must not be a secret. */
function holdsSecret({ signature }: SignatureRecord, secrets: SecretSearch): boolean {
  const bytes = Buffer.from(signature);
  return secrets.isIn(bytes.toString('base64')) || secrets.isIn(bytes.toString('latin1'));
}
