/** What a file of a run does next, step by step, as `obtainSignature` and those who write and report do it. */

import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import { claimWork, decide, type Need, shareCall } from '../../../../src/journal/claimant.ts';
import type { Database } from '../../../../src/journal/driver.ts';
import type { Work } from '../../../../src/journal/journal.ts';
import type { Observer, Run } from '../../../../src/journal/runs.ts';
import * as steps from '../../../../src/journal/steps.ts';
import { checkSending } from './promises.ts';
import type { Actor, Answer, Budget, Thread, World } from './world.ts';

/** It stands still: no promise depends on a time. */
export const NOW = 1_000_000_000_000;

export type Change = (world: World) => void;
export type Choices = (readonly [name: string, change: Change])[];

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
    const need = needOf(actor, thread);
    const { call, work } = thread;
    const part = { ...need, id: call, name: thread.name };
    const fails = (): void => {
      thread.step = 'failed';
    };
    const commit = <T>(apply: () => T): T | undefined => {
      try {
        return apply();
      } catch (thrown) {
        if (!(thrown instanceof CodesignError)) throw thrown;
        return undefined;
      }
    };
    switch (thread.step) {
      case 'known':
        return [
          [
            'known',
            () => {
              const verified = verifiedBy(actor, need.work);
              const found = commit(() => {
                const decision = decide(me, need, verified);
                if (decision.kind === 'share') shareCall(me, need, decision.call);
                return decision;
              });
              if (found?.kind === 'wait') return;
              if (found?.kind === 'share') {
                const { id, name } = found.call;
                Object.assign(thread, { step: 'write', call: Number(id), name: String(name) });
              } else if (found?.kind === 'mismatch' || found?.kind === 'just-unanswered' || thread.resumes) fails();
              else thread.step = 'claim';
            },
          ],
        ];
      case 'claim':
        return [
          [
            'claim',
            () => {
              const verified = verifiedBy(actor, need.work);
              const found = commit(() => claimWork(me, need, verified, `call-${nextOf(db, 'calls')}`));
              if (found?.kind !== 'claimed') {
                thread.step = 'known';
                return;
              }
              const { id, name, unknown } = found;
              Object.assign(thread, { step: 'request', call: id, name, warned: [...unknown], isRepeated: false });
            },
          ],
        ];
      case 'request':
        return [
          [
            'request',
            () => {
              const isDone = commit(() => {
                steps.request(me, call, thread.isRepeated);
                return true;
              });
              if (isDone) thread.step = 'send';
              else fails();
            },
          ],
        ];
      case 'send':
        return [
          [
            'send',
            () => {
              if (!steps.isRequested(me, call)) {
                commit(() => steps.endWithout(me, call, 'released'));
                fails();
                return;
              }
              checkSending(db, world, actor, thread);
              thread.request = world.requests.length;
              const index = world.actors.indexOf(actor);
              world.requests.push({ call, name: thread.name, work, actor: index, answer: undefined, isGiven: false });
              thread.step = 'receive';
            },
          ],
        ];
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
          commit(() => steps.failToWrite(me, part, 'why', isChanged));
          fails();
        };
        if (isChanged) return [['write: changed', failing]];
        const writing: Change = () => {
          world.files[thread.path] = call;
          thread.step = 'note-written';
        };
        return world.budget.writeFails > 0
          ? [
              ['write', writing],
              ['write: fails', () => budgetOf(world, 'writeFails') && failing(world)],
            ]
          : [['write', writing]];
      }
      case 'note-written':
        return [
          [
            'note-written',
            () => {
              const after = commit(() => steps.write(me, part, thread.path, 'sha'));
              thread.status = 1;
              thread.step = after?.reportDue === undefined ? 'done' : 'report';
            },
          ],
        ];
      case 'report': {
        const choices: Choices = [
          [
            `report ${thread.status}`,
            () => {
              world.reports.push({ call, status: thread.status });
              thread.step = 'note-report';
            },
          ],
        ];
        if (world.budget.reportFails > 0)
          choices.push(['report: fails', () => budgetOf(world, 'reportFails') && fails()]);
        return choices;
      }
      case 'note-report':
        return [
          [
            'note-report',
            () => {
              commit(() => steps.noteReport(me, call, thread.status));
              thread.step = 'done';
            },
          ],
        ];
      default:
        return [];
    }
  }

  function answersTo(world: World, actor: Actor, thread: Thread): (readonly [Answer, () => void])[] {
    const me = runOf(db, world, actor);
    const { budget } = world;
    const { call, name } = thread;
    const part = { ...needOf(actor, thread), id: call, name };
    const request = world.requests[thread.request];
    const end = (state: 'refused' | 'unknown'): void => {
      steps.endWithout(me, call, state);
      thread.step = 'failed';
    };
    const given = (key: string) => ({ signature: Buffer.from(key), record: `r-${name}` });
    const keep = (key: string): void => {
      if (request) request.isGiven = true;
      if (key === actor.certificate) {
        const kept = steps.sign(me, part, given(key));
        thread.step = kept === 'surplus' ? 'failed' : 'write';
        return;
      }
      steps.keepUnusable(me, part, given(key), 'why');
      Object.assign(thread, { step: 'report', status: 2 });
    };
    const answers: (readonly [Answer, () => void])[] = [['good', () => keep('A')]];
    if (budget.unusable > 0) answers.push(['unusable', () => budgetOf(world, 'unusable') && keep('X')]);
    if (budget.refused > 0) answers.push(['refused', () => budgetOf(world, 'refused') && end('refused')]);
    if (budget.throttled > 0) {
      answers.push([
        'throttled',
        () => {
          budget.throttled -= 1;
          steps.defer(me, call);
          thread.step = 'request';
        },
      ]);
    }
    if (budget.none > 0) answers.push(['none', () => budgetOf(world, 'none') && end('unknown')]);
    if (budget.repeat > 0) {
      answers.push([
        'lost',
        () => {
          budget.repeat -= 1;
          thread.warned.push(name);
          Object.assign(thread, { step: 'request', isRepeated: true });
        },
      ]);
    }
    return answers;
  }

  /** A file of a run that was interrupted: nothing more is sent, and what is paid and in hand is still written. */
  function stopping(world: World, actor: Actor, thread: Thread): Choices {
    const ends = (state: 'released' | 'unknown' | undefined): Choices => [
      [
        `stops: ${state}`,
        () => {
          if (state) steps.endWithout(runOf(db, world, actor), thread.call, state);
          thread.step = 'failed';
        },
      ],
    ];
    if (thread.step === 'known' || thread.step === 'claim') return ends(undefined);
    if (thread.step === 'request' || thread.step === 'send') return ends(thread.isRepeated ? 'unknown' : 'released');
    if (thread.step === 'receive') return ends('unknown');
    return goOn(world, actor, thread);
  }

  function verifiedBy({ certificate }: Actor, work: Work): ReadonlyMap<string, boolean> {
    const rows = db.all('select name, signature from calls where digest = ? and signature is not null', work.digest);
    return new Map(
      rows.map((row) => [String(row.name), Buffer.from(String(row.signature), 'base64').toString() === certificate]),
    );
  }

  return { goOn, stopping };
}

export function needOf(
  { certificate }: Pick<Actor, 'certificate'>,
  { path, work }: Pick<Thread, 'path' | 'work'>,
): Need {
  return {
    work: { origin: 'https://one', code: '1', algorithm: 'SHA256', digest: String(work) },
    metadata: {
      ...{ file: path, bytes: 1, certificate: { name: 'name', sha256: certificate }, client: 'client' },
      signingOptions: { path, output: path, formatOptions: {} },
    },
  };
}
