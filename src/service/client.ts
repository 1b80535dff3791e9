import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { printable } from '../errors/printable.ts';
import type { Http } from '../http/http.ts';
import type { Outcome, RequestBounds } from '../http/request.ts';
import { type OnWait, REAL_RETRY_CLOCK } from '../http/retry.ts';
import { type ForeignText, foreignText } from '../secrets/foreign-text.ts';
import { Secret } from '../secrets/secret.ts';
import {
  isServiceId,
  isSuccessStatus,
  readEnvelope,
  readSignatureRecord,
  type Show,
  saysUnauthorized,
  statusError,
  storableRecord,
} from './answer.ts';
import { type Call, type CallDependencies, headOf, performCall, type ServiceClock } from './call.ts';
import { type CallRecord, type CallSubject, maskDigest } from './call-record.ts';
import { businessErrors, codeWithoutConnection, networkErrors, recordErrors, serviceWarnings } from './errors.ts';
import { createHold } from './hold.ts';
import { PADDING, REPORT_PATH, type ReportRequestMessage, SIGN_PATH, type SignRequestMessage } from './messages.ts';
import type { SignatureRecord, SigningService } from './signing-service.ts';

/** The service's responses have a few hundred bytes. */
const ANSWER_LIMIT = 4 * 1024 * 1024;

interface ServiceAddress {
  /** `https://host/a` leads to `https://host/a/v1/codesign/sign`. */
  readonly baseUrl: URL;
  readonly credentials: { readonly accessKey: string; readonly accessSecret: Secret };
  readonly http: Http;
  readonly timeoutMilliseconds: number;
}

export interface SigningServiceOptions extends ServiceAddress {
  readonly onCall?: ((record: CallRecord) => void) | undefined;
  readonly onWait?: OnWait | undefined;
  readonly clock?: ServiceClock | undefined;
}

const REAL_CLOCK: ServiceClock = { now: Date.now, ...REAL_RETRY_CLOCK };

export function createSigningService(options: SigningServiceOptions): SigningService {
  const { baseUrl, credentials, http, onCall = () => undefined, onWait, clock = REAL_CLOCK } = options;
  const secrets = secretsOf(credentials);
  const idsOfRun = new Map<string, string>();
  const storable = (id: string): string => {
    const stored = storableRecord(id, secrets);
    if (stored !== id) idsOfRun.set(stored, id);
    return stored;
  };
  const dependencies: CallDependencies = {
    origin: baseUrl.origin,
    show: showWithout(secrets),
    storable,
    hold: createHold(clock),
    clock,
    onCall,
    onWait,
  };

  let expected = 0;
  return {
    expect(requests) {
      expected = requests;
    },
    sign(request, signal) {
      const { code, digest, algorithm, extra, file, beforeSend, beforeWrite, verifies, mayRepeat, beforeRetry } =
        request;
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
        send: (until) =>
          postMessage(options, SIGN_PATH, message, { beforeSend, beforeWrite, signal: until, isPaid: true }),
        mayRepeat,
        beforeRetry,
        read({ data, httpStatus }) {
          const answer = readSignatureRecord(data, httpStatus, storable);
          const { id, signature } = answer;
          if (verifies?.(signature) || !secrets.holdsSecret(Buffer.from(signature).toString('base64'))) {
            return { answer, record: id };
          }
          // The journal would store the signature with the credential.
          const why = 'data.signature holds a credential';
          throw businessErrors('no-signature', { why }, { httpStatus, serviceCode: 0 });
        },
      };
      http.prepare(baseUrl, expected);
      return performCall(call, dependencies, signal);
    },
    async report(record, status, signal, file) {
      const id = idsOfRun.get(record) ?? record;
      if (id === record && !isServiceId(record)) throw recordErrors('record-id-unknown', { record });
      const message: ReportRequestMessage = { id, status };
      const call: Call<void> = {
        operation: 'report-sign',
        subject: { file, code: undefined, digest: undefined, record, status },
        send: (until) => postMessage(options, REPORT_PATH, message, { signal: until }),
        read: () => ({ answer: undefined }),
      };
      return performCall(call, dependencies, signal);
    },
    close: () => http.close(),
  };
}

export function postMessage(
  { baseUrl, credentials, http, timeoutMilliseconds }: ServiceAddress,
  path: string,
  message: object,
  bounds?: Pick<RequestBounds, 'beforeSend' | 'beforeWrite' | 'signal' | 'isPaid'>,
): Promise<Outcome> {
  return http.postJson({
    url: operationUrl(baseUrl, path),
    // API 5, rule 3.
    headers: { authorization: new Secret(`Basic ${basicToken(credentials)}`) },
    body: new TextEncoder().encode(JSON.stringify(message)),
    deadlineMilliseconds: timeoutMilliseconds,
    sizeLimit: ANSWER_LIMIT,
    ...bounds,
  });
}

/** `new URL('/v1/…', base)` would remove the path of the base URL. */
function operationUrl(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = baseUrl.pathname.replace(/\/+$/, '') + path;
  return url;
}

type Credentials = SigningServiceOptions['credentials'];

function basicToken({ accessKey, accessSecret }: Credentials): string {
  return Buffer.from(`${accessKey}:${accessSecret.reveal()}`, 'utf8').toString('base64');
}

function showWithout(secrets: ForeignText): Show {
  return (text) => printable(secrets.show(text));
}

function secretsOf(credentials: Credentials): ForeignText {
  return foreignText([basicToken(credentials), credentials.accessSecret.reveal()]);
}

interface CredentialsCheck {
  readonly httpStatus: number;
  readonly serviceCode: number | undefined;
  /** Set if the service did not reject the parameters. */
  readonly warning: string | undefined;
}

/** The service checks the credentials before the parameters, and rejects each of these parameters (API 7). */
const REFUSED: SignRequestMessage = { code: '', digest: '', algorithm: 'SHA256', padding: 'NONE' };
const PARAMETER_ERROR = 400;

const NO_SUBJECT: CallSubject = {
  file: undefined,
  code: undefined,
  digest: undefined,
  record: undefined,
  status: undefined,
};

export interface CheckOptions extends ServiceAddress {
  readonly onCall: (record: CallRecord) => void;
  readonly now: () => number;
}

/** Sends one request. Throws `unauthorized` if the service rejects the credentials, or an error of the network. */
export async function checkCredentials(options: CheckOptions): Promise<CredentialsCheck> {
  const { baseUrl, credentials, onCall, now } = options;
  const { origin } = baseUrl;
  const started = now();
  const outcome = await postMessage(options, SIGN_PATH, REFUSED);
  const record = (serviceCode: number | undefined, result: string): void =>
    onCall({
      ...NO_SUBJECT,
      operation: 'check',
      attempt: 1,
      origin,
      httpStatus: headOf(outcome)?.status,
      time: new Date(started).toISOString(),
      serviceCode,
      result,
      milliseconds: Math.max(0, now() - started),
    });
  try {
    const check = readCheck(outcome, origin, showWithout(secretsOf(credentials)));
    record(check.serviceCode, 'ok');
    return check;
  } catch (thrown) {
    const { serviceCode, code } = toCodesignError(thrown);
    record(serviceCode, code);
    throw thrown;
  }
}

function readCheck(outcome: Outcome, origin: string, show: Show): CredentialsCheck {
  const head = headOf(outcome);
  if (head === undefined) throw unanswered(outcome, origin, show);
  const envelope = outcome.kind === 'answer' ? readEnvelope(outcome.body) : undefined;
  const { status } = head;
  const serviceCode = envelope?.code;
  if (saysUnauthorized(status, envelope)) {
    if (!isSuccessStatus(status)) throw statusError({ operation: 'sign', head, envelope, attempts: 1, show });
    const message = envelope?.message ? show(envelope.message) : undefined;
    throw businessErrors('unauthorized', { message }, { httpStatus: status, serviceCode });
  }
  return { httpStatus: status, serviceCode, warning: warningOf(status, serviceCode) };
}

function warningOf(status: number, serviceCode: number | undefined): string | undefined {
  if (serviceCode === PARAMETER_ERROR) return undefined;
  if (serviceCode === 0 && isSuccessStatus(status)) return serviceWarnings('check-accepted');
  const answer = serviceCode === undefined ? 'in a form that does not follow the API' : `with code ${serviceCode}`;
  return serviceWarnings('check-unclear', { answer, status });
}

function unanswered(outcome: Outcome, origin: string, show: Show): CodesignError {
  if (outcome.kind === 'answer') throw new Error('an answer has a head');
  const details = { origin, detail: show(outcome.detail) };
  if (outcome.mayHaveArrived) return networkErrors('check-unanswered', details);
  return networkErrors(codeWithoutConnection(outcome.reason), details);
}
