/** Classifies the outcome of one attempt: success by rule 4.1.1, or the error and whether a retry is safe and may help. */

import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { Answer, AnswerHead, Failure, FailureReason, Outcome } from '../http/request.ts';
import { type Attempt, type NotRetried, readRetryAfter } from '../http/retry.ts';
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
import type { Operation } from './call-record.ts';
import { businessErrors, codeWithoutConnection, mayHaveBeenCounted, networkErrors } from './errors.ts';

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
  /** Milliseconds since 1970. */
  readonly now: number;
}

export type Classified = Attempt<Success, CodesignError>;

/** An unreachable service costs at most about 1.5 s of waiting, a throttling one at most what it asks for. */
export const MAX_ATTEMPTS = { unreachable: 3, throttled: 5, unanswered: 3 } as const;

/** These do not change during a run. */
const PERMANENT: ReadonlySet<FailureReason> = new Set(['tls-untrusted', 'tls-failed', 'proxy-unauthorized']);

export function classify(outcome: Outcome, circumstances: Circumstances): Classified {
  if (outcome.kind === 'answer') return classifyAnswer(outcome, outcome.body, circumstances);
  const { head, body } = outcome;
  if (head !== undefined && body !== undefined && isSuccessStatus(head.status)) {
    if (circumstances.operation === 'sign' && isWholeSignature(body)) return classifyAnswer(head, body, circumstances);
  }
  // A status outside 2xx is a failure whatever the body says, and even when the body did not come whole.
  if (head !== undefined && !isSuccessStatus(head.status)) {
    return classifyAnswer(head, body ?? new Uint8Array(), circumstances);
  }
  return classifyFailure(outcome, circumstances);
}

/** An error after which there is no retry. */
export function failed(error: CodesignError): NotRetried<CodesignError> {
  return { kind: mayHaveBeenCounted(error) ? 'may-have-arrived' : 'final', failure: error };
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

function classifyAnswer(head: AnswerHead | Answer, body: Uint8Array, circumstances: Circumstances): Classified {
  const refusal: Refusal = { ...circumstances, head, envelope: readEnvelope(body) };
  if (!isSuccessStatus(head.status)) return classifyStatus(refusal, circumstances.now);
  try {
    return { kind: 'done', result: { httpStatus: head.status, data: readData(refusal, body) } };
  } catch (thrown) {
    return failed(toCodesignError(thrown));
  }
}

function classifyStatus(refusal: Refusal, now: number): Classified {
  const { operation, head, envelope } = refusal;
  const { status, headers } = head;
  const failure = statusError(refusal);
  if (saysUnauthorized(status, envelope)) return failed(failure);
  const isCertain = operation === 'report-sign' || !isBare503(head, envelope);
  if (status === 429 || (status === 503 && isCertain)) {
    const retryAfter = readRetryAfter(headers.get('retry-after'), now);
    return { kind: 'transient', failure, maxAttempts: MAX_ATTEMPTS.throttled, retryAfter };
  }
  if (operation !== 'report-sign' || status < 500) return failed(failure);
  const retryAfter = readRetryAfter(headers.get('retry-after'), now);
  return { kind: 'transient', failure, maxAttempts: MAX_ATTEMPTS.unanswered, retryAfter };
}

function classifyFailure(failure: Failure, { operation, origin, show }: Circumstances): Classified {
  const { reason, mayHaveArrived, head } = failure;
  const details = { operation, origin, detail: show(failure.detail) };
  const context = { httpStatus: head?.status };
  if (reason === 'too-large') {
    return failed(businessErrors('malformed-answer', { operation, why: details.detail }, context));
  }
  if (!mayHaveArrived) {
    const error = networkErrors(codeWithoutConnection(reason), details);
    if (PERMANENT.has(reason)) return failed(error);
    return { kind: 'transient', failure: error, maxAttempts: MAX_ATTEMPTS.unreachable };
  }
  if (operation === 'report-sign') {
    const error = networkErrors('report-unanswered', details, context);
    return { kind: 'transient', failure: error, maxAttempts: MAX_ATTEMPTS.unanswered };
  }
  return failed(networkErrors(reason === 'timed-out' ? 'sign-timed-out' : 'connection-broken', details, context));
}
