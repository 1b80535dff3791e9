/** Judges the outcome of one attempt: success by rule 4.1.1, or the error, and whether the call may be repeated. */

import type { CodesignError } from '../errors/codesign-error.ts';
import type { Answer, AnswerHead, Failure, FailureReason, Outcome } from '../http/exchange.ts';
import {
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
  const { head } = outcome;
  // A status outside 2xx is a failure whatever the body says, and even when the body did not come whole.
  if (head !== undefined && !isSuccessStatus(head.status)) return judgeAnswer(head, new Uint8Array(), circumstances);
  return judgeFailure(outcome, circumstances);
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

function repeatOfStatus({ operation, head: { status }, envelope }: Refusal): { repeat?: RepeatReason } {
  if (saysUnauthorized(status, envelope)) return {};
  if (status === 429 || status === 503) return { repeat: 'throttled' };
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
