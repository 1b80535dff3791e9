import type { JournalContext } from '../context.ts';
import { journalReason, journalWarnings } from '../errors.ts';
import type { HistoryEntry, Journal, Reported, SharingFile, UnfinishedCall, UnfinishedKind } from '../journal.ts';
import type { CallLocation } from './call-files.ts';
import type { CallState } from './call-state.ts';
import { closeCall, entryOf, outcomeOfEnded } from './close-call.ts';
import {
  belongsToHistory,
  END,
  isOfUnendedRun,
  isSettled,
  kindOf,
  nextActionOf,
  sharesOf,
  withoutOvertaken,
} from './next-action.ts';

type OpenCalls = Pick<Journal, 'unfinished' | 'repeatable' | 'history' | 'reported' | 'forget'>;

interface FoundCall {
  readonly location: CallLocation;
  readonly state: CallState;
  /** Undefined if the call is over: only its file remains to be removed. */
  readonly kind: UnfinishedKind | undefined;
  readonly givenUp: boolean;
}

export function unfinishedCalls(context: JournalContext): OpenCalls {
  const { calls, liveness, warn, guard } = context;
  /** Where calls were when they were listed: thousands of reports may be sent after one listing. */
  const locations = new Map<string, CallLocation>();

  async function look(location: CallLocation): Promise<FoundCall | undefined> {
    const found = await calls.read(location).catch((thrown) => {
      // The other calls are still listed.
      warn(journalWarnings('call-unreadable', { path: location.path, reason: journalReason(thrown) }));
      return undefined;
    });
    if (found === undefined) return undefined;
    if (found.id === undefined || found.phase === 'empty') {
      warn(journalWarnings('call-damaged', { path: location.path }));
    } else if (found.isCorrupt && found.signed === undefined) {
      // What is lost may be the very line that held the signature.
      warn(journalWarnings('call-of-file-damaged', { file: found.metadata?.file ?? 'a file', path: location.path }));
    }
    if (found.id === undefined) return undefined;
    locations.set(found.id, location);
    const state = await withoutOvertaken(found, liveness);
    const action = await nextActionOf(state, location.aside !== undefined, liveness);
    const isOver = typeof action !== 'string' && action.aim === 'end';
    if (isOver && !context.isReadOnly) {
      // No other process may ever look at it. If it cannot be ended now (a full disk), a later one ends it.
      await closeCall(context, location, state, action).catch(() => undefined);
    }
    const closing = isOver ? action : state.closing;
    const kind = isOver ? undefined : await kindOf(state, action, liveness);
    if (kind === undefined && closing === undefined) return undefined;
    return { location, state, kind, givenUp: closing?.givenUp === true };
  }

  async function find(id: string): Promise<FoundCall | undefined> {
    const remembered = locations.get(id);
    const found = remembered && (await look(remembered));
    if (found?.kind !== undefined && found.state.id === id) return found;
    for (const location of await calls.all()) {
      const other = await look(location);
      if (other?.kind !== undefined && other.state.id === id) return other;
    }
    return undefined;
  }

  async function list(): Promise<FoundCall[]> {
    const open: FoundCall[] = [];
    for (const location of await calls.all()) {
      const found = await look(location);
      if (found) open.push(found);
    }
    return open;
  }

  async function recordReport(id: string, status: Reported): Promise<FoundCall | undefined> {
    const found = await find(id);
    if (found === undefined) return undefined;
    const step = { step: 'reported', call: id, at: context.now().toISOString(), status } as const;
    const state = await calls.record(found.location.work, step, 'no');
    return state && { ...found, state };
  }

  async function* history(): AsyncGenerator<HistoryEntry> {
    const pages = context.history.pages()[Symbol.asyncIterator]();
    const open = new Map(
      (await guard(list)).flatMap(asOpenEntry).sort(([, one], [, other]) => (one.at < other.at ? -1 : 1)),
    );
    const listed = new Set<string>();
    for (;;) {
      const page = await guard(() => pages.next());
      if (page.done) break;
      for (const entry of page.value) {
        for (const [id, older] of open) {
          if (older.at >= entry.at) break;
          open.delete(id);
          listed.add(id);
          yield older;
        }
        // It ended while the history was read.
        open.delete(entry.id);
        if (!listed.has(entry.id)) yield entry;
      }
    }
    yield* open.values();
  }

  return {
    async unfinished() {
      return (await list()).flatMap(asUnfinished);
    },
    async repeatable() {
      const first = context.unended.since();
      const found = (await list()).flatMap(asUnfinished).map(({ at, work, files }) => ({ at, work, files }));
      if (first === undefined) return found;
      for await (const state of context.finished.since(first)) {
        if (state.work !== undefined && isOfUnendedRun(state, context)) {
          found.push({ at: state.at, work: state.work, files: filesOf(state) });
        }
      }
      return found;
    },
    history,
    async reported(id, status) {
      const found = await recordReport(id, status);
      if (found === undefined) return false;
      if (isSettled(found.state)) await closeCall(context, found.location, found.state, END);
      return true;
    },
    async forget(id, reported) {
      const found = await find(id);
      if (found === undefined) return (await context.pairs.forget(id)) ? 'forgotten' : 'not-found';
      if (found.kind === 'under-way') return 'under-way';
      const latest = reported === undefined ? found : ((await recordReport(id, reported)) ?? found);
      const closed = await closeCall(context, latest.location, latest.state, { aim: 'end', givenUp: true });
      if (!closed) return 'under-way';
      await context.pairs.forget(id);
      return 'forgotten';
    },
  };
}

function asUnfinished({ state, kind }: FoundCall): readonly UnfinishedCall[] {
  const { id, at, work, metadata, signed, reason } = state;
  if (kind === undefined || id === undefined || work === undefined || metadata === undefined) return [];
  const files = filesOf(state);
  const { file, signingOptions } = metadata;
  const whole = { file, written: false, unusable: false, reason, signingOptions };
  const call = { id, kind, at, work, metadata, record: signed?.record, reason };
  return [{ ...call, files: files.length > 0 ? files : [whole] }];
}

function filesOf(state: CallState): readonly SharingFile[] {
  return sharesOf(state).map((share) => ({
    file: share.metadata?.file ?? state.metadata?.file ?? '',
    written: share.state === 'written',
    unusable: share.state === 'unusable',
    reason: share.reason,
    signingOptions: share.metadata?.signingOptions,
  }));
}

/** A copy has no entry: it only uses another call's signature. */
function asOpenEntry(found: FoundCall): readonly (readonly [string, HistoryEntry])[] {
  const { state } = found;
  if (state.signed?.copy || (found.kind === undefined && !belongsToHistory(state))) return [];
  const entry = entryOf(state, outcomeOf(found), found.kind === undefined ? state.lastAt : undefined);
  return entry === undefined ? [] : [[entry.id, entry]];
}

function outcomeOf({ state, kind, givenUp }: FoundCall): HistoryEntry['outcome'] {
  if (kind === undefined) return outcomeOfEnded(state, givenUp);
  const isUnusable = kind === 'unwritten' && sharesOf(state).every((share) => share.state === 'unusable');
  return isUnusable ? 'unusable' : kind;
}
