/** Checks whether the service accepts the credentials, by a request that it must reject for its padding (API 7, 8): no signature is made. */

import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { Outcome } from '../http/request.ts';
import { isSuccessStatus, readEnvelope, type Show, saysUnauthorized, statusError } from './answer.ts';
import type { CallRecord } from './call-record.ts';
import { headOf } from './classify.ts';
import { postMessage, type ServiceAddress, showWithout } from './client.ts';
import { businessErrors, codeWithoutConnection, networkErrors } from './errors.ts';
import { SIGN_PATH, type SignRequestMessage } from './messages.ts';

export interface CredentialsCheck {
  readonly httpStatus: number;
  /** The business code, where the answer was an envelope. */
  readonly serviceCode: number | undefined;
  /** A whole sentence on an answer that says less than the one to be expected. */
  readonly warning: string | undefined;
}

/** API 7: the service checks the credentials before the parameters, and rejects each of these. */
const REFUSED: SignRequestMessage = { code: '', digest: '', algorithm: 'SHA256', padding: 'NONE' };
const PARAMETER_ERROR = 400;

/** The call is about no file, and its parameters mean nothing. */
const NO_SUBJECT = {
  file: undefined,
  code: undefined,
  digest: undefined,
  record: undefined,
  status: undefined,
} as const satisfies Partial<CallRecord>;

export interface CheckOptions extends ServiceAddress {
  /** Called after the call, whatever its outcome. */
  readonly onCall: (record: CallRecord) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * Resolves if the service does not reject the credentials: only a 401 does, under any status. Sends one request. Throws
 * `unauthorized`, and where no answer came `service-unreachable`, `tls-…`, `proxy-…` or `check-unanswered`.
 */
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
    const check = readCheck(outcome, origin, showWithout(credentials));
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
  if (serviceCode === 0 && isSuccessStatus(status)) {
    return 'The service accepted a call that it should have rejected: ask its operator whether it counted a signature.';
  }
  const answer = serviceCode === undefined ? 'with something that is not of its API' : `with code ${serviceCode}`;
  return `The service did not reject the credentials, but answered ${answer} (HTTP ${status}): check its address, and sign a first file to be sure.`;
}

function unanswered(outcome: Outcome, origin: string, show: Show): CodesignError {
  if (outcome.kind === 'answer') throw new Error('an answer has a head');
  const details = { origin, detail: show(outcome.detail) };
  if (outcome.mayHaveArrived) return networkErrors('check-unanswered', details);
  return networkErrors(codeWithoutConnection(outcome.reason), details);
}
