/** The Remote Code Signing API over HTTP: sign and report-sign, retried only where nothing can have been signed. */

import { printable } from '../errors/printable.ts';
import type { Http } from '../http/http.ts';
import type { Outcome } from '../http/request.ts';
import { REAL_RETRY_CLOCK } from '../http/retry.ts';
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
export const ANSWER_LIMIT = 1024 * 1024;

export interface SigningServiceOptions {
  /** Its path is kept: `https://host/a` is asked at `https://host/a/v1/codesign/sign`. */
  readonly baseUrl: URL;
  readonly credentials: { readonly accessKey: string; readonly accessSecret: Secret };
  readonly http: Http;
  /** For one attempt of one call; the waits between attempts are apart. */
  readonly timeoutMilliseconds: number;
  /** Calls for signatures at once, as long as the service does not throttle. */
  readonly concurrency?: number | undefined;
  /** Hears of every attempt of every call. */
  readonly onCall?: ((record: CallRecord) => void) | undefined;
  readonly clock?: ServiceClock | undefined;
}

const REAL_CLOCK: ServiceClock = { now: Date.now, ...REAL_RETRY_CLOCK };

/** More at once than anybody asks for. */
const UNBOUNDED = 1_000;

export function createSigningService(options: SigningServiceOptions): SigningService {
  const { baseUrl, credentials, http, concurrency = UNBOUNDED, onCall = () => undefined, clock = REAL_CLOCK } = options;
  const pace = createPace({ most: concurrency, now: clock.now, sleep: clock.sleep });
  const calling: Calling = { origin: baseUrl.origin, show: showWithout(credentials), pace, clock, onCall };
  const secrets = secretsOf(credentials);
  /** By what is stored of them. */
  const idsOfRun = new Map<string, string>();
  const storable = (id: string): string => {
    const stored = storableRecord(id, secrets);
    if (stored !== id) idsOfRun.set(stored, id);
    return stored;
  };
  const sender = (path: string, message: object, beforeSend?: () => Promise<void>): (() => Promise<Outcome>) => {
    const url = operationUrl(baseUrl, path);
    const body = new TextEncoder().encode(JSON.stringify(message));
    const bounds = { deadlineMilliseconds: options.timeoutMilliseconds, sizeLimit: ANSWER_LIMIT };
    const hook = beforeSend === undefined ? {} : { beforeSend };
    return () =>
      http.postJson({ url, headers: { authorization: basicAuthorization(credentials) }, body, ...bounds, ...hook });
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
        send: sender(SIGN_PATH, message, beforeSend),
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
        send: sender(REPORT_PATH, message),
        read: () => ({ answer: undefined }),
      };
      return performCall(call, calling, signal);
    },
    close: () => http.close(),
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
