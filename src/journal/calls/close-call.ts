import type { JournalContext } from '../context.ts';
import { journalWarnings } from '../errors.ts';
import type { HistoryOffset } from '../history/history.ts';
import type { HistoryEntry } from '../journal.ts';
import type { CallLocation } from './call-files.ts';
import type { CallState } from './call-state.ts';
import { belongsToHistory, type Closing, isWritten, sharesOf } from './next-action.ts';

/**
 * False if a step was added after `classified` was read, or if another process is closing the call. If a process does not
 * finish closing, the next one that finds the call closes it again.
 */
export async function closeCall(
  context: JournalContext,
  location: CallLocation,
  classified: CallState,
  { aim, givenUp }: Closing,
): Promise<boolean> {
  const { calls, liveness, waiting } = context;
  const { id } = classified;
  if (id === undefined) return false;
  const by = context.randomId();
  liveness.held.add(by);
  try {
    const isEntered = aim === 'end' && belongsToHistory(classified);
    const history = isEntered ? await context.history.nextOffset() : undefined;
    const at = context.now().toISOString();
    const common = { step: 'closing', call: id, at, by, holder: liveness.self } as const;
    const state = await calls.append(
      location,
      (fresh) =>
        fresh.id === id && fresh.lines === classified.lines
          ? { ...common, lines: fresh.lines, aim, givenUp, history }
          : undefined,
      'no',
    );
    if (state?.closing?.by !== by) return false;
    if (aim === 'aside') await calls.moveAside(location, id);
    else await endCall(context, location, classified, history, givenUp);
    return true;
  } finally {
    liveness.held.delete(by);
    waiting.wake(location.work);
  }
}

async function endCall(
  { calls, history, finished, now, warn }: JournalContext,
  location: CallLocation,
  classified: CallState,
  historyOffset: HistoryOffset | undefined,
  givenUp: boolean,
): Promise<void> {
  // A process that began to close it before may have made the entry.
  if (historyOffset !== undefined && !(await history.holds(classified.id ?? '', classified.historyOffsets))) {
    const entry = entryOf(classified, outcomeOfEnded(classified, givenUp), now().toISOString());
    if (entry === undefined) warn(journalWarnings('call-not-entered', { path: location.path }));
    else await history.append(historyOffset, entry);
  }
  if (classified.lastWritten !== undefined && isWritten(classified)) await finished.keep(location);
  else await calls.remove(location);
}

/** So that a line of the history is never too long to be read. */
const MOST_DIGESTS = 1000;

export function outcomeOfEnded(state: CallState, givenUp: boolean): HistoryEntry['outcome'] {
  if (state.phase === 'refused') return 'refused';
  if (isWritten(state)) return 'written';
  if (sharesOf(state).some((share) => share.state === 'unusable')) return 'unusable';
  return givenUp ? 'given-up' : 'unknown';
}

/** Undefined if damage has removed work or metadata from the file. */
export function entryOf(
  state: CallState,
  outcome: HistoryEntry['outcome'],
  ended: string | undefined,
): HistoryEntry | undefined {
  const { id, work, metadata, phase, signed, reported } = state;
  if (id === undefined || work === undefined || metadata === undefined) return undefined;
  const shares = sharesOf(state);
  const { file, bytes, certificate } = metadata;
  return {
    id,
    at: state.at,
    ended,
    file,
    bytes,
    filesWritten: shares.filter((share) => share.state === 'written').length,
    sha256: [...new Set(shares.flatMap(({ sha256 }) => sha256 ?? []))].slice(0, MOST_DIGESTS),
    certificate,
    ...work,
    record: signed?.record,
    outcome,
    counted: countedIn(phase),
    reported: reported === 'not-wanted' ? undefined : reported,
    reason: state.reason ?? shares.find(({ reason }) => reason !== undefined)?.reason,
  };
}

/** API 8: what is counted is a signature that was given. */
function countedIn(phase: CallState['phase']): HistoryEntry['counted'] {
  if (phase === 'signed') return 'yes';
  return phase === 'requested' || phase === 'unanswered' ? 'unknown' : 'no';
}
