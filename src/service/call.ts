/** One call of the service: its attempts, each in a slot, classified and recorded. */

import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { Outcome } from '../http/request.ts';
import { type Attempt, LONGEST_WAIT, type OnWait, type RetryClock, type RetryWait, retry } from '../http/retry.ts';
import type { CallRecord, CallSubject, Operation } from './call-record.ts';
import { type Circumstances, classify, failed, headOf, type Success } from './classify.ts';
import { networkErrors } from './errors.ts';
import type { Pace, Went } from './pace.ts';

/** Time and chance, for tests to control. */
export interface ServiceClock extends RetryClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Calling extends Pick<Circumstances, 'origin' | 'show'> {
  readonly pace: Pace;
  readonly clock: ServiceClock;
  readonly onCall: (record: CallRecord) => void;
  readonly onWait?: OnWait | undefined;
}

export interface Call<Answer> {
  readonly operation: Operation;
  readonly subject: CallSubject;
  /** Sends the request, once. */
  send(): Promise<Outcome>;
  /** As in SignRequest. */
  readonly beforeRetry?: ((error: CodesignError) => Promise<void>) | undefined;
  /** Throws what a success lacks. */
  read(success: Success): Read<Answer>;
}

interface Read<Answer> {
  readonly answer: Answer;
  readonly record?: string | undefined;
}

type Tried<Answer> = Attempt<Read<Answer>, CodesignError>;

export async function performCall<Answer>(
  call: Call<Answer>,
  calling: Calling,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { operation, subject, beforeRetry } = call;
  const { clock } = calling;
  const interrupted = (again: string) => (cause: unknown) => {
    throw networkErrors('interrupted', { operation: operation + again }, { cause });
  };
  const sleep: RetryClock['sleep'] = (wait) => clock.sleep(wait, signal).catch(interrupted(' again'));
  let endHold = (): void => undefined;
  const attempt = async (number: number): Promise<Tried<Answer>> => {
    endHold();
    let isStarted = false;
    const once = async (): Promise<readonly [Tried<Answer>, Went]> => {
      isStarted = true;
      const { tried, went } = await attemptOnce(call, number, calling);
      // The wait is meant for all requests to the service, also when this one is given up.
      if (went === 'throttled' && tried.kind === 'transient' && tried.retryAfter !== undefined) {
        endHold = calling.pace.hold(Math.min(tried.retryAfter, LONGEST_WAIT));
      }
      return [tried, went];
    };
    try {
      return await inTurn(call, number, calling.pace, once, signal);
    } catch (thrown) {
      return isStarted ? Promise.reject(thrown) : interrupted(number > 1 ? ' again' : '')(thrown);
    }
  };
  const onWait = ({ code, httpStatus }: CodesignError, wait: RetryWait): void =>
    calling.onWait?.(`${operation} ${subject.file ?? ''}: ${httpStatus ? `HTTP ${httpStatus}` : code}`, wait);
  const retried = await retry({ attempt, clock: { ...clock, sleep }, signal, beforeRetry, onWait });
  if ('failure' in retried) throw retried.failure;
  return retried.result.answer;
}

/** A report needs no slot, and says what has happened: it is made once even when all is to end. */
async function inTurn<Answer>(
  { operation }: Call<Answer>,
  number: number,
  pace: Pace,
  once: () => Promise<readonly [Tried<Answer>, Went]>,
  signal: AbortSignal | undefined,
): Promise<Tried<Answer>> {
  if (operation === 'sign') return pace.run(once, signal);
  const waiting = pace.untilWanted(signal);
  await (number > 1 ? waiting : waiting.catch(() => undefined));
  const [tried] = await once();
  return tried;
}

async function attemptOnce<Answer>(
  call: Call<Answer>,
  number: number,
  { clock, origin, show, onCall }: Calling,
): Promise<{ readonly tried: Tried<Answer>; readonly went: Went }> {
  const { operation, subject } = call;
  const started = clock.now();
  const outcome = await call.send();
  const now = clock.now();
  const tried = readSuccess(call, classify(outcome, { operation, attempts: number, origin, show, now }));
  const head = headOf(outcome);
  const error = tried.kind === 'done' ? undefined : tried.failure;
  const record = tried.kind === 'done' ? tried.result.record : tried.failure.record;
  notify(onCall, {
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
  if (tried.kind === 'transient' && (head?.status === 429 || head?.status === 503)) return { tried, went: 'throttled' };
  // A gateway that gave up says nothing good about the service.
  const isAnswered = outcome.kind === 'answer' && tried.kind !== 'may-have-arrived';
  return { tried, went: isAnswered ? 'answered' : 'unanswered' };
}

function readSuccess<Answer>(call: Call<Answer>, tried: Attempt<Success, CodesignError>): Tried<Answer> {
  if (tried.kind !== 'done') return tried;
  try {
    return { kind: 'done', result: call.read(tried.result) };
  } catch (thrown) {
    return failed(toCodesignError(thrown));
  }
}

/** A listener that fails does not decide how the call ends. */
function notify(onCall: Calling['onCall'], record: CallRecord): void {
  try {
    onCall(record);
  } catch {
    // It reports its failures itself.
  }
}
