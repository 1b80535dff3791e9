/** Judges the outcome of one attempt: success by rule 4.1.1, or the error, and whether the call may be repeated. */

import type { CodesignError } from '../errors/codesign-error.ts';
import type { Answer, AnswerHead, Failure, FailureReason, Outcome } from '../http/exchange.ts';
import {
  holdsSignature,
  isBare503,
  isSuccessStatus,
  type Refusal,
  readData,
  readEnvelope,
  type Show,
  saysUnauthorized,
  statusError,
} from './answer.ts';
import { businessErrors, codeWithoutConnection, networkErrors } from './errors.ts';
import type { Operation } from './operation.ts';
import type { RepeatReason } from './repeating.ts';

/** What the service answered with success (2xx and code 0). */
export interface Success {
  readonly httpStatus: number;
  readonly data: unknown;
}

export interface Circumstances {
  readonly operation: Operation;
  /** Attempts made, this one included. */
  readonly attempts: number;
  readonly origin: string;
  readonly show: Show;
}

export type Judged = { readonly success: Success } | { readonly error: CodesignError; readonly repeat?: RepeatReason };

/** As far as one run goes. */
const PERMANENT: ReadonlySet<FailureReason> = new Set(['tls-untrusted', 'tls-failed', 'proxy-unauthorized']);

/** Throws what a 2xx answer says instead of success: it is never repeated. */
export function judge(outcome: Outcome, circumstances: Circumstances): Judged {
  if (outcome.kind === 'answer') return judgeAnswer(outcome, outcome.body, circumstances);
  const { head, body } = outcome;
  if (head !== undefined && body !== undefined && isSuccessStatus(head.status)) {
    if (circumstances.operation === 'sign' && isWholeSignature(body)) return judgeAnswer(head, body, circumstances);
  }
  // A status outside 2xx is a failure whatever the body says, and even when the body did not come whole.
  if (head !== undefined && !isSuccessStatus(head.status))
    return judgeAnswer(head, body ?? new Uint8Array(), circumstances);
  return judgeFailure(outcome, circumstances);
}

/**
 * Whether all of a signature came, although the answer around it broke: an end of chunks that is missing, or a
 * Content-Length that is too long. The signature is paid for, and is checked with the certificate's key anyway.
 */
function isWholeSignature(body: Uint8Array): boolean {
  const envelope = readEnvelope(body);
  return envelope?.code === 0 && holdsSignature(envelope.data);
}

/** The head of the answer, where that much came. */
export function headOf(outcome: Outcome): AnswerHead | undefined {
  return outcome.kind === 'answer' ? outcome : outcome.head;
}

function judgeAnswer(head: AnswerHead | Answer, body: Uint8Array, circumstances: Circumstances): Judged {
  const { status } = head;
  const refusal: Refusal = { ...circumstances, head, envelope: readEnvelope(body) };
  if (isSuccessStatus(status)) return { success: { httpStatus: status, data: readData(refusal, body) } };
  return { error: statusError(refusal), ...repeatOfStatus(refusal) };
}

function repeatOfStatus({ operation, head, envelope }: Refusal): { repeat?: RepeatReason } {
  const { status } = head;
  if (saysUnauthorized(status, envelope)) return {};
  const isCertain = operation === 'report-sign' || !isBare503(head, envelope);
  if (status === 429 || (status === 503 && isCertain)) return { repeat: 'throttled' };
  return operation === 'report-sign' && status >= 500 ? { repeat: 'unanswered' } : {};
}

function judgeFailure(failure: Failure, { operation, origin, show }: Circumstances): Judged {
  const { reason, mayHaveArrived, head } = failure;
  const details = { operation, origin, detail: show(failure.detail) };
  const context = { httpStatus: head?.status };
  if (reason === 'too-large') {
    return { error: businessErrors('malformed-answer', { operation, why: details.detail }, context) };
  }
  if (!mayHaveArrived) {
    const error = networkErrors(codeWithoutConnection(reason), details);
    return PERMANENT.has(reason) ? { error } : { error, repeat: 'unreachable' };
  }
  if (operation === 'report-sign') {
    return { error: networkErrors('report-unanswered', details, context), repeat: 'unanswered' };
  }
  return { error: networkErrors(reason === 'timed-out' ? 'sign-timed-out' : 'connection-broken', details, context) };
}
