import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { Answer, AnswerHead, Failure, FailureReason, Outcome } from '../http/request.ts';
import {
  type Attempt,
  LONGEST_WAIT,
  type NotRetried,
  type OnWait,
  type RetryClock,
  type RetryWait,
  readRetryAfter,
  retry,
  waitAfter,
} from '../http/retry.ts';
import {
  findRecordId,
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
import type { CallRecord, CallSubject, Operation } from './call-record.ts';
import {
  businessErrors,
  codeWithoutConnection,
  isThrottled,
  isUnanswered,
  mayHaveBeenCounted,
  networkErrors,
} from './errors.ts';
import type { Hold } from './hold.ts';
import type { SignRequest } from './signing-service.ts';

export interface ServiceClock extends RetryClock {
  readonly now: () => number;
}

export interface CallDependencies extends Pick<AnswerContext, 'origin' | 'show' | 'storable'> {
  readonly hold: Hold;
  readonly clock: ServiceClock;
  /** Must not throw. */
  readonly onCall: (record: CallRecord) => void;
  readonly onWait?: OnWait | undefined;
}

export interface Call<Answer> extends Pick<SignRequest, 'mayRepeat' | 'beforeRetry'> {
  readonly operation: Operation;
  readonly subject: CallSubject;
  /** Sends the request once. Aborting `signal` has no effect after a signature request was written. */
  send(signal: AbortSignal | undefined): Promise<Outcome>;
  read(success: Success): Read<Answer>;
}

interface Read<Answer> {
  readonly answer: Answer;
  readonly record?: string | undefined;
}

type Tried<Answer> = Attempt<Read<Answer>, CodesignError>;

export async function performCall<Answer>(
  call: Call<Answer>,
  dependencies: CallDependencies,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { operation, subject, beforeRetry } = call;
  const { clock } = dependencies;
  const interrupted = (again: string) => (cause: unknown) => {
    throw networkErrors('interrupted', { operation: operation + again, what: 'sent' }, { cause });
  };
  const sleep: RetryClock['sleep'] = (wait) => clock.sleep(wait, signal).catch(interrupted(' again'));
  let endHold = (): void => undefined;
  const attempt = async (number: number): Promise<Tried<Answer>> => {
    endHold();
    await dependencies.hold.over(signal).catch(interrupted(number > 1 ? ' again' : ''));
    const tried = await attemptOnce(call, number, dependencies, signal);
    if (tried.kind === 'transient' && (tried.retryAfter !== undefined || isThrottled(tried.failure))) {
      // All requests to the service must wait, even if this one is abandoned.
      const retryAfter = tried.retryAfter ?? waitAfter(number, clock.random());
      endHold = dependencies.hold.begin(Math.min(retryAfter, LONGEST_WAIT));
      return { ...tried, retryAfter };
    }
    if (tried.kind === 'may-have-arrived' && isUnanswered(tried.failure) && call.mayRepeat?.()) {
      return { kind: 'transient', failure: tried.failure, maxAttempts: number + 1 };
    }
    return tried;
  };
  const onWait = ({ code, httpStatus }: CodesignError, wait: RetryWait): void =>
    dependencies.onWait?.(`${operation} ${subject.file ?? ''}: ${httpStatus ? `HTTP ${httpStatus}` : code}`, wait);
  const retried = await retry({ attempt, clock: { ...clock, sleep }, signal, beforeRetry, onWait });
  if ('failure' in retried) throw retried.failure;
  return retried.result.answer;
}

async function attemptOnce<Answer>(
  call: Call<Answer>,
  number: number,
  { clock, origin, show, storable, onCall }: CallDependencies,
  signal: AbortSignal | undefined,
): Promise<Tried<Answer>> {
  const { operation, subject } = call;
  const started = clock.now();
  const outcome = await call.send(signal);
  const now = clock.now();
  const context = { operation, attempts: number, origin, show, storable, now };
  const tried = readSuccess(call, classify(outcome, context));
  const head = headOf(outcome);
  const error = tried.kind === 'done' ? undefined : tried.failure;
  const { record } = tried.kind === 'done' ? tried.result : tried.failure;
  onCall({
    ...subject,
    operation,
    time: new Date(started).toISOString(),
    attempt: number,
    origin,
    httpStatus: head?.status,
    serviceCode: error === undefined ? 0 : error.serviceCode,
    record: subject.record ?? record,
    result: error?.code ?? 'ok',
    milliseconds: Math.max(0, now - started),
  });
  return tried;
}

function readSuccess<Answer>(call: Call<Answer>, tried: Attempt<Success, CodesignError>): Tried<Answer> {
  if (tried.kind !== 'done') return tried;
  try {
    return { kind: 'done', result: call.read(tried.result) };
  } catch (thrown) {
    return failed(toCodesignError(thrown));
  }
}

interface Success {
  readonly httpStatus: number;
  readonly data: unknown;
}

interface AnswerContext {
  readonly operation: Operation;
  readonly attempts: number;
  readonly origin: string;
  readonly show: Show;
  readonly storable: (id: string) => string;
  readonly now: number;
}

export type Classified = Attempt<Success, CodesignError>;

/** If the service is unreachable, its retries take about 1.5 s. */
export const MAX_ATTEMPTS = { unreachable: 3, throttled: 5, unanswered: 3 } as const;

/** A retry does not help against these failures. */
const PERMANENT: ReadonlySet<FailureReason> = new Set(['tls-untrusted', 'tls-failed', 'proxy-unauthorized']);

export function classify(outcome: Outcome, context: AnswerContext): Classified {
  if (outcome.kind === 'answer') return classifyAnswer(outcome, outcome.body, context);
  const { head, body } = outcome;
  if (head === undefined) return classifyFailure(outcome, context);
  // A status outside 2xx is a failure, even if the body is incomplete.
  if (!isSuccessStatus(head.status)) return classifyAnswer(head, body ?? new Uint8Array(), context);
  const isSigned = context.operation === 'sign' && body !== undefined && isWholeSignature(body);
  return isSigned ? classifyAnswer(head, body, context) : classifyFailure(outcome, context);
}

export function failed(error: CodesignError): NotRetried<CodesignError> {
  return { kind: mayHaveBeenCounted(error) ? 'may-have-arrived' : 'final', failure: error };
}

/**
 * A broken response may contain a complete signature, for example if only the last chunk is missing. The signature has
 * been paid for, and is checked later with the key of the certificate.
 */
function isWholeSignature(body: Uint8Array): boolean {
  const envelope = readEnvelope(body);
  return envelope?.code === 0 && holdsSignature(envelope.data);
}

export function headOf(outcome: Outcome): AnswerHead | undefined {
  return outcome.kind === 'answer' ? outcome : outcome.head;
}

function classifyAnswer(head: AnswerHead | Answer, body: Uint8Array, context: AnswerContext): Classified {
  const refusal: Refusal = { ...context, head, envelope: readEnvelope(body) };
  if (!isSuccessStatus(head.status)) return classifyStatus(refusal, context.now);
  try {
    return {
      kind: 'done',
      result: { httpStatus: head.status, data: readData(refusal, body, () => recordIn(body, context)) },
    };
  } catch (thrown) {
    return failed(toCodesignError(thrown));
  }
}

function classifyStatus(refusal: Refusal, now: number): Classified {
  const { operation, head, envelope } = refusal;
  const { status, headers } = head;
  const failure = statusError(refusal);
  if (saysUnauthorized(status, envelope)) return failed(failure);
  const isReport = operation === 'report-sign';
  const isThrottled = status === 429 || (status === 503 && (isReport || !isBare503(head, envelope)));
  if (!isThrottled && !(isReport && status >= 500)) return failed(failure);
  const maxAttempts = isThrottled ? MAX_ATTEMPTS.throttled : MAX_ATTEMPTS.unanswered;
  return { kind: 'transient', failure, maxAttempts, retryAfter: readRetryAfter(headers.get('retry-after'), now) };
}

function classifyFailure(failure: Failure, context: AnswerContext): Classified {
  const { operation, origin, attempts, show } = context;
  const { reason, mayHaveArrived, head, body } = failure;
  const record = body && recordIn(body, context);
  const details = { operation, origin, attempts, detail: show(failure.detail), record };
  const about = { httpStatus: head?.status, record };
  if (reason === 'too-large') {
    return failed(businessErrors('malformed-answer', { ...details, why: details.detail }, about));
  }
  if (reason === 'interrupted') {
    return failed(networkErrors('interrupted', { operation, what: mayHaveArrived ? 'answered' : 'sent' }));
  }
  if (!mayHaveArrived) {
    const error = networkErrors(codeWithoutConnection(reason), details);
    if (PERMANENT.has(reason)) return failed(error);
    return { kind: 'transient', failure: error, maxAttempts: MAX_ATTEMPTS.unreachable };
  }
  if (operation === 'report-sign') {
    const error = networkErrors('report-unanswered', details, about);
    return { kind: 'transient', failure: error, maxAttempts: MAX_ATTEMPTS.unanswered };
  }
  return failed(networkErrors(reason === 'timed-out' ? 'sign-timed-out' : 'connection-broken', details, about));
}

function recordIn(body: Uint8Array, { operation, storable }: AnswerContext): string | undefined {
  const id = operation === 'sign' ? findRecordId(body) : undefined;
  return id === undefined ? undefined : storable(id);
}
