/** The end of a call: one process alone moves its file aside, or enters it into the history, once, and takes it away. */

import type { JournalContext } from '../context.ts';
import type { HistoryOffset } from '../history/history.ts';
import type { HistoryEntry } from '../journal.ts';
import type { CallLocation } from './call-files.ts';
import type { CallState } from './call-state.ts';
import { belongsToHistory, type Closing, isWritten, sharesOf } from './next-action.ts';

/**
 * False when something happened to the call after `judged` was read, or somebody else is closing it. A closing that its
 * process did not finish is begun again, by whoever finds it.
 */
export async function closeCall(
  context: JournalContext,
  place: CallLocation,
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
    const history = isEntered ? await context.history.place() : undefined;
    const at = context.now().toISOString();
    const common = { step: 'closing', call: id, at, by, holder: liveness.self } as const;
    const state = await calls.append(
      place,
      (fresh) =>
        fresh.id === id && fresh.lines === classified.lines
          ? { ...common, lines: fresh.lines, aim, givenUp, history }
          : undefined,
      'no',
    );
    if (state?.closing?.by !== by) return false;
    if (aim === 'aside') await calls.moveAside(place, id);
    else await endCall(context, place, classified, history, givenUp);
    return true;
  } finally {
    liveness.held.delete(by);
    waiting.wake(place.work);
  }
}

async function endCall(
  { calls, history, finished, now, warn }: JournalContext,
  place: CallLocation,
  judged: CallState,
  historyOffset: HistoryOffset | undefined,
  givenUp: boolean,
): Promise<void> {
  // Whoever began to close it before may have got as far as the entry.
  if (historyOffset !== undefined && !(await history.holds(judged.id ?? '', judged.historyOffsets))) {
    const entry = entryOf(judged, outcomeOfEnded(judged, givenUp), now().toISOString());
    if (entry === undefined) warn(`A damaged entry of the journal has no place in its history: ${place.path}.`);
    else await history.append(historyOffset, entry);
  }
  if (judged.lastWritten !== undefined && isWritten(judged)) await finished.keep(place);
  else await calls.remove(place);
}

export function outcomeOfEnded(state: CallState, givenUp: boolean): HistoryEntry['outcome'] {
  if (state.phase === 'refused') return 'refused';
  if (isWritten(state)) return 'written';
  if (sharesOf(state).some((share) => share.state === 'unusable')) return 'unusable';
  return givenUp ? 'given-up' : 'unknown';
}

/** Undefined when the file does not tell any more whose call it was. */
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
