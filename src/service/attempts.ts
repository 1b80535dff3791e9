/** The attempts of one call: at their pace, judged one by one, on record, and repeated only where nothing can have been signed. */

import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { Outcome } from '../http/exchange.ts';
import { readRetryAfter } from '../http/retry-after.ts';
import { LONGEST_WAIT, type Waiting } from '../http/waiting.ts';
import type { CallRecord, CallSubject } from './call-record.ts';
import { mayHaveBeenCounted, networkErrors } from './errors.ts';
import { type Circumstances, headOf, judge, type Success } from './judge.ts';
import type { Operation } from './operation.ts';
import type { Pace, Place } from './pace.ts';
import { type RepeatReason, waitBeforeRepeat } from './repeating.ts';

/** Time and chance, for tests to hold still. */
export interface ServiceClock extends Waiting {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Attempting extends Omit<Circumstances, 'operation' | 'attempts'> {
  readonly pace: Pace;
  readonly clock: ServiceClock;
  readonly onCall: (record: CallRecord) => void;
}

export interface Call<Answer> {
  readonly operation: Operation;
  readonly subject: CallSubject;
  /** Sends the request, once. */
  send(): Promise<Outcome>;
  /** As in SignRequest. */
  readonly beforeRepeat?: ((error: CodesignError) => Promise<void>) | undefined;
  /** Throws what a success lacks. */
  read(success: Success): { readonly answer: Answer; readonly record?: string | undefined };
}

type Result<Answer> =
  | { readonly answer: Answer; readonly record?: string | undefined }
  | { readonly error: CodesignError; readonly repeat?: RepeatReason };

export async function attempt<Answer>(
  call: Call<Answer>,
  attempting: Attempting,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let attempts = 1; ; attempts += 1) {
    const place = await takePlace(call, attempts, attempting.pace, signal);
    const tried = await attemptOnce(call, attempts, attempting, place);
    if ('answer' in tried) return tried.answer;
    await call.beforeRepeat?.(tried.error);
    await orInterrupted(attempting.clock.sleep(tried.wait, signal), `${call.operation} again`);
    tried.endHold();
  }
}

/** A report needs none, and tells of what has happened: it is made once even when all is to end. */
async function takePlace<Answer>(
  { operation }: Call<Answer>,
  attempts: number,
  pace: Pace,
  signal: AbortSignal | undefined,
): Promise<Place | undefined> {
  const again = attempts > 1 ? ' again' : '';
  if (operation === 'sign') return orInterrupted(pace.enter(signal), `${operation}${again}`);
  await pace.untilWanted(signal).catch(() => undefined);
  if (signal?.aborted && attempts > 1) throw networkErrors('interrupted', { operation: `${operation}${again}` });
  return undefined;
}

interface ToBeRepeated {
  /** Of the attempt that failed. */
  readonly error: CodesignError;
  /** Milliseconds. */
  readonly wait: number;
  /** To be called when that time has passed. */
  readonly endHold: () => void;
}

/** Leaves its place when all is known that others are to go by. Throws what is final. */
async function attemptOnce<Answer>(
  call: Call<Answer>,
  attempts: number,
  attempting: Attempting,
  place: Place | undefined,
): Promise<{ readonly answer: Answer } | ToBeRepeated> {
  const { pace, clock, origin, show } = attempting;
  let how: Parameters<Place['leave']>[0] = 'unanswered';
  try {
    const started = clock.now();
    const outcome = await call.send();
    const result = judgeAs(call, outcome, { operation: call.operation, attempts, origin, show });
    how = howItWent(result, outcome);
    tell(attempting, recordOf(call, attempts, attempting, { outcome, result, started }));
    if ('answer' in result) return result;
    const { error, repeat } = result;
    const retryAfter = readRetryAfter(headOf(outcome)?.headers.get('retry-after'), clock.now());
    const wait = repeat && waitBeforeRepeat({ attempts, reason: repeat, retryAfter, random: clock.random() });
    // Asked of this call, and meant for all that go to the service: also when this one is given up.
    const isAsked = repeat === 'throttled' && retryAfter !== undefined;
    const endHold = isAsked ? pace.hold(wait ?? Math.min(retryAfter, LONGEST_WAIT)) : () => undefined;
    if (wait === undefined) throw error;
    return { error, wait, endHold };
  } finally {
    place?.leave(how);
  }
}

function recordOf<Answer>(
  { operation, subject }: Call<Answer>,
  attempt: number,
  { clock, origin }: Attempting,
  { outcome, result, started }: { outcome: Outcome; result: Result<Answer>; started: number },
): CallRecord {
  const isDone = 'answer' in result;
  return {
    ...subject,
    operation,
    time: new Date(started).toISOString(),
    attempt,
    origin,
    httpStatus: headOf(outcome)?.status,
    serviceCode: isDone ? 0 : result.error.serviceCode,
    record: subject.record ?? (isDone ? result.record : result.error.record),
    result: isDone ? 'ok' : result.error.code,
    milliseconds: Math.max(0, clock.now() - started),
  };
}

function judgeAs<Answer>(call: Call<Answer>, outcome: Outcome, circumstances: Circumstances): Result<Answer> {
  try {
    const judged = judge(outcome, circumstances);
    return 'success' in judged ? call.read(judged.success) : judged;
  } catch (thrown) {
    return { error: toCodesignError(thrown) };
  }
}

function howItWent<Answer>(result: Result<Answer>, outcome: Outcome): Parameters<Place['leave']>[0] {
  if ('error' in result && result.repeat === 'throttled') return 'throttled';
  // A gateway that gave up says nothing good about the service.
  const isDoubtful = 'error' in result && mayHaveBeenCounted(result.error);
  return outcome.kind === 'answer' && !isDoubtful ? 'answered' : 'unanswered';
}

/** Whoever keeps the record does not decide how the call ends. */
function tell({ onCall }: Attempting, record: CallRecord): void {
  try {
    onCall(record);
  } catch {
    // It has its own ways to say so.
  }
}

async function orInterrupted<Value>(waiting: Promise<Value>, operation: string): Promise<Value> {
  try {
    return await waiting;
  } catch (cause) {
    throw networkErrors('interrupted', { operation }, { cause });
  }
}
