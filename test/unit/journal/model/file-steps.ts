/** What a file of a run does next, step by step, as `obtainSignature` and those who write and report do it. */

import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { claimOf, sharedCall } from '../../../../src/journal/calls.ts';
import { claimWork, decide, endWithout, shareCall } from '../../../../src/journal/claimant.ts';
import type { Session } from '../../../../src/journal/commits.ts';
import type { Database } from '../../../../src/journal/driver.ts';
import type { AfterFile, Claim, ClaimRequest, SharedCall } from '../../../../src/journal/journal.ts';
import type { Observer, Run } from '../../../../src/journal/runs.ts';
import * as works from '../support/works.ts';
import { checkSending } from './promises.ts';
import type { Actor, Answer, Budget, Thread, World } from './world.ts';

/** It stands still: no promise depends on a time. */
export const NOW = 1_000_000_000_000;

export type Change = (world: World) => void;
export type Choices = (readonly [name: string, change: Change])[];
const only = (name: string, change: Change): Choices => [[name, change]];

export const observerOf = (db: Database, world: World, self: number): Observer => ({
  db,
  folder: 'state',
  now: () => new Date(NOW),
  uptime: () => 0,
  processes: {
    self: { host: 'here', boot: undefined, space: undefined, pid: self, started: undefined },
    isRunning: ({ pid }) =>
      world.actors.some(
        (one) => one.pid === pid && !one.isPresumedGone && (one.state === 'alive' || one.state === 'stopping'),
      ),
  },
});

export const runOf = (db: Database, world: World, { run, began, pid }: Actor): Run => ({
  ...observerOf(db, world, pid),
  id: run,
  began,
  watch: new Map(),
});

/** The id that the next row gets. */
export const nextOf = (db: Database, table: 'runs' | 'calls'): number =>
  Number(db.get(`select coalesce(max(id), 0) + 1 as next from ${table}`)?.next);

const budgetOf = (world: World, what: keyof Budget): boolean => {
  world.budget[what] -= 1;
  return true;
};

export function fileSteps(db: Database) {
  /** The next step of one file. */
  function goOn(world: World, actor: Actor, thread: Thread): Choices {
    const me = runOf(db, world, actor);
    const asking = askingOf(actor, thread);
    const { call, work } = thread;
    const fails = (): void => {
      thread.step = 'failed';
    };
    const noted = (note: (shared: SharedCall) => unknown) =>
      committed(me, (session) => note(sharedCall(session, partOf(actor, thread))));
    switch (thread.step) {
      case 'known':
        return only('known', () => {
          const found = decide(me, asking);
          if (found.kind === 'wait') return;
          if (found.kind === 'share') {
            const { call: shared, name } = shareCall(me, asking, found.call);
            Object.assign(thread, { step: 'write', call: shared, name });
          } else if (found.kind !== 'claim' || thread.resumes) fails();
          else thread.step = 'claim';
        });
      case 'claim':
        return only('claim', () => {
          const claimed = claimWork(me, asking, `call-${nextOf(db, 'calls')}`);
          if (claimed === undefined) thread.step = 'known';
          else {
            const { call: id, name, unknownCalls } = claimed;
            Object.assign(thread, { step: 'request', call: id, name, warned: [...unknownCalls], isRepeated: false });
          }
        });
      case 'request':
        return only('request', () => {
          if (claiming(me, actor, thread, (claim) => claim.requested(thread.isRepeated))) thread.step = 'send';
          else fails();
        });
      case 'send':
        return only('send', () => {
          if (!claiming(me, actor, thread, (claim) => claim.mayBeSent())) {
            endWithout(me, call, 'released');
            fails();
            return;
          }
          checkSending(db, world, actor, thread);
          thread.request = world.requests.length;
          const index = world.actors.indexOf(actor);
          world.requests.push({ call, name: thread.name, work, actor: index, answer: undefined, isGiven: false });
          thread.step = 'receive';
        });
      case 'receive':
        return answersTo(world, actor, thread).map(([answer, change]) => [
          `receive ${answer}`,
          () => {
            const request = world.requests[thread.request];
            if (request) request.answer = answer;
            change();
          },
        ]);
      case 'write': {
        const isChanged = (world.files[thread.path] ?? 0) !== thread.opened;
        const failing: Change = () => {
          noted((shared) => shared.notWritten('why', isChanged));
          fails();
        };
        if (isChanged) return only('write: changed', failing);
        const writing = only('write', () => {
          world.files[thread.path] = call;
          thread.step = 'note-written';
        });
        const cannot = only('write: fails', () => budgetOf(world, 'writeFails') && failing(world));
        return world.budget.writeFails > 0 ? [...writing, ...cannot] : writing;
      }
      case 'note-written':
        return only('note-written', () => {
          const after = noted((shared) => shared.written('sha'))?.value as AfterFile | undefined;
          thread.status = 1;
          thread.step = after?.reportDue === undefined ? 'done' : 'report';
        });
      case 'report': {
        const reporting = only(`report ${thread.status}`, () => {
          world.reports.push({ call, status: thread.status });
          thread.step = 'note-report';
        });
        const cannot = only('report: fails', () => budgetOf(world, 'reportFails') && fails());
        return world.budget.reportFails > 0 ? [...reporting, ...cannot] : reporting;
      }
      case 'note-report':
        return only('note-report', () => {
          noted((shared) => shared.reported(thread.status));
          thread.step = 'done';
        });
      default:
        return [];
    }
  }

  function answersTo(world: World, actor: Actor, thread: Thread): (readonly [Answer, () => void])[] {
    const me = runOf(db, world, actor);
    const { budget } = world;
    const { call, name } = thread;
    const request = world.requests[thread.request];
    const goTo = (step: Thread['step']): void => {
      thread.step = step;
    };
    const end = (state: 'refused' | 'unknown'): void => {
      endWithout(me, call, state);
      goTo('failed');
    };
    const given = (key: string) => ({ signature: Buffer.from(key), record: `r-${name}` });
    const keep = (key: string): void => {
      if (request) request.isGiven = true;
      if (key === actor.certificate) {
        const kept = claiming(me, actor, thread, (claim) => claim.signed(given(key)));
        thread.step = kept?.value === 'surplus' ? 'failed' : 'write';
        return;
      }
      claiming(me, actor, thread, (claim) => claim.unusable(given(key), 'why'));
      Object.assign(thread, { step: 'report', status: 2 });
    };
    const answers: (readonly [Answer, () => void])[] = [['good', () => keep('A')]];
    if (budget.unusable > 0) answers.push(['unusable', () => budgetOf(world, 'unusable') && keep('X')]);
    if (budget.refused > 0) answers.push(['refused', () => budgetOf(world, 'refused') && end('refused')]);
    if (budget.throttled > 0) {
      const again = (): unknown => claiming(me, actor, thread, (claim) => claim.deferred());
      answers.push(['throttled', () => budgetOf(world, 'throttled') && again() && goTo('request')]);
    }
    if (budget.none > 0) answers.push(['none', () => budgetOf(world, 'none') && end('unknown')]);
    if (budget.repeat > 0) {
      const repeat = (): unknown => Object.assign(thread, { isRepeated: true, warned: [...thread.warned, name] });
      answers.push(['lost', () => budgetOf(world, 'repeat') && repeat() && goTo('request')]);
    }
    return answers;
  }

  /** A file of a run that was interrupted: nothing more is sent, and what is paid and in hand is still written. */
  function stopping(world: World, actor: Actor, thread: Thread): Choices {
    const ends = (state: 'released' | 'unknown' | undefined): Choices =>
      only(`stops: ${state}`, () => {
        if (state) endWithout(runOf(db, world, actor), thread.call, state);
        thread.step = 'failed';
      });
    if (thread.step === 'known' || thread.step === 'claim') return ends(undefined);
    if (thread.step === 'request' || thread.step === 'send') return ends(thread.isRepeated ? 'unknown' : 'released');
    if (thread.step === 'receive') return ends('unknown');
    return goOn(world, actor, thread);
  }

  return { goOn, stopping };
}

const askingOf = ({ certificate }: Actor, { path, work }: Thread): ClaimRequest => ({
  ...works.askingOf(work, { ...works.factsAt(path), certificate: { name: 'name', sha256: certificate } }),
  work: works.workOf(1, { digest: String(work) }),
  verifies: (signature) => Buffer.from(signature).toString() === certificate,
});

const partOf = (actor: Actor, thread: Thread) => ({ ...askingOf(actor, thread), call: thread.call, name: thread.name });

/** A step of the claim that the file has. */
function claiming(me: Run, actor: Actor, thread: Thread, step: (claim: Claim) => unknown) {
  const claimed = { ...partOf(actor, thread), unknownCalls: [], isProven: false };
  return committed(me, (session) => step(claimOf(session, claimed)));
}

/** Applies the entry of a step at once, and returns what that returns; undefined if the step fails. */
function committed(me: Run, step: (session: Session) => unknown): { readonly value: unknown } | undefined {
  let value: unknown;
  let failure: unknown;
  const enter = <T>(apply: () => T): Promise<T> => {
    try {
      value = apply();
    } catch (thrown) {
      failure = thrown;
    }
    // What follows the commit is the memory of the process, which the model has in its own state.
    return new Promise(() => undefined);
  };
  const nothing = () => undefined;
  const session: Session = {
    ...{ ...me, warnings: [], warn: nothing, lookForReplaced: nothing, assertUsable: nothing },
    ...{ unrecorded: nothing, allUnrecorded: () => [], keepInMemory: nothing, paused: async () => undefined },
    enter: (_urgency, apply) => enter(apply),
  };
  try {
    step(session);
  } catch (thrown) {
    failure = thrown;
  }
  if (failure !== undefined && !(failure instanceof CodesignError)) throw failure;
  return failure === undefined ? { value } : undefined;
}
