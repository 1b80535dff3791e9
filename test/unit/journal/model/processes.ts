/** All that the processes of the model can do next. What changes rows are the journal's own functions. */

import { endCalls, forget as forgetCall } from '../../../../src/journal/claimant.ts';
import { unfinishedCalls } from '../../../../src/journal/listing.ts';
import { beginRun, endRun } from '../../../../src/journal/runs.ts';
import type { Model, State } from './explore.ts';
import { type Change, type Choices, fileSteps, NOW, nextOf, observerOf, runOf } from './file-steps.ts';
import { checkEnd, checkState } from './promises.ts';
import { openMemory } from './rows.ts';
import { type Actor, isOver, type Thread, threadOf, type World } from './world.ts';

export function modelOf(start: World): Model {
  const memory = openMemory();
  const { db } = memory;
  const { goOn, stopping } = fileSteps(db);

  function startRun(world: World, actor: Actor): void {
    const number = nextOf(db, 'runs');
    actor.pid = number;
    const me = beginRun(observerOf(db, world, number), NOW);
    Object.assign(actor, {
      run: me.id,
      began: me.began,
      state: 'alive',
      lives: actor.lives - 1,
      isPresumedGone: false,
    });
    actor.threads =
      actor.kind === 'sign'
        ? actor.files.map(([path, work]) => threadOf(path, work, world.files[path] ?? 0))
        : unfinishedCalls(observerOf(db, world, actor.pid)).flatMap(({ id, kind, files, work, reportDue }) => {
            const row = db.get('select id from calls where name = ?', id);
            const call = { call: Number(row?.id), name: id, resumes: true };
            const number = Number(work.digest);
            if (kind === 'unwritten') {
              const open = files.filter(({ written, unusable }) => !written && !unusable);
              return open.map(({ file }) => threadOf(file, number, world.files[file] ?? 0, { resumes: true }));
            }
            if (reportDue === undefined || kind === 'under-way') return [];
            return [threadOf(id, number, 0, { ...call, step: 'report', status: reportDue })];
          });
  }

  function choicesOf(world: World): Choices {
    const choices: Choices = [];
    const { budget } = world;
    world.actors.forEach((actor, index) => {
      const add = (name: string, change: Change): number => choices.push([`${index}: ${name}`, change]);
      if (actor.state === 'idle' || actor.state === 'over') {
        if (actor.lives > 0) add('begin', () => startRun(world, actor));
        return;
      }
      actor.threads.forEach((thread, file) => {
        const next = actor.state === 'stopping' ? stopping(world, actor, thread) : goOn(world, actor, thread);
        for (const [name, change] of next) add(`file ${file} ${name}`, change);
      });
      if (actor.threads.every(isOver)) add('end', () => endOf(world, actor));
      if (budget.kill > 0) {
        add('is killed', () => {
          budget.kill -= 1;
          actor.state = 'over';
        });
      }
      if (budget.interrupt > 0 && actor.state === 'alive') {
        add('is interrupted', () => {
          budget.interrupt -= 1;
          actor.state = 'stopping';
        });
      }
      if (budget.presume > 0 && !actor.isPresumedGone) {
        add('is presumed gone', () => {
          budget.presume -= 1;
          actor.isPresumedGone = true;
        });
      }
    });
    if (budget.forget > 0) {
      for (const { id = null, name = null } of db.all(
        "select id, name from calls where state not in ('refused', 'forgotten')",
      )) {
        choices.push([`user forgets ${name}`, () => forget(world, Number(id), String(name))]);
      }
    }
    return choices;
  }

  function endOf(world: World, actor: Actor): void {
    const me = runOf(db, world, actor);
    endRun(db, me.id);
    endCalls(me);
    const isWell = actor.threads.every(({ step }) => step === 'done');
    if (isWell) db.run('update runs set well = 1 where id = ? and ended is not null', me.id);
    actor.state = 'over';
  }

  /** Once no process can be ended any more, what concerns no other one follows at once. */
  function hurry(world: World): void {
    const { kill, interrupt, presume } = world.budget;
    if (kill + interrupt + presume > 0) return;
    for (const actor of world.actors) {
      if (actor.state !== 'alive' && actor.state !== 'stopping') continue;
      for (const thread of actor.threads) {
        while (thread.step === 'send' || thread.step === 'note-written' || thread.step === 'note-report') {
          const [choice] = goOn(world, actor, thread);
          if (actor.isPresumedGone || choice === undefined) break;
          choice[1](world);
        }
      }
      if (actor.threads.every(isOver)) endOf(world, actor);
    }
  }

  /** As `Journal.forget`, by a run that is there for it. */
  function forget(world: World, call: number, name: string): void {
    const observer = observerOf(db, world, 999);
    const kind = unfinishedCalls(observer, name)[0]?.kind;
    if (kind === undefined || kind === 'under-way') return;
    world.budget.forget -= 1;
    const me = beginRun(observer, NOW);
    db.run('delete from proven where call = ? and matches = 0', name);
    forgetCall(me, call, undefined);
    endRun(db, me.id);
    world.forgotten.push(call);
  }

  const stateOf = (world: World): State => {
    const rows = memory.save();
    checkState(db, world);
    const text = JSON.stringify([world, rows]);
    return { text, essence: JSON.stringify([essenceOf(world), memory.essence()]) };
  };

  return {
    start: stateOf(start),
    *next(text) {
      const [, rows] = JSON.parse(text) as [World, string];
      let moves = 0;
      for (let index = 0; ; index += 1) {
        const [world] = JSON.parse(text) as [World, string];
        memory.restore(rows);
        const choice = choicesOf(world)[index];
        if (choice === undefined) {
          if (moves === 0) checkEnd(world, observerOf(db, world, 999));
          return;
        }
        const [name, change] = choice;
        yield [
          name,
          () => {
            change(world);
            hurry(world);
            const state = stateOf(world);
            if (state.text !== text) moves += 1;
            return state;
          },
        ];
      }
    },
  };
}

/** What is over is in the rows, and what it was does not matter any more. */
function essenceOf({ actors, requests, ...world }: World): unknown {
  const isAlive = ({ state }: Actor): boolean => state === 'alive' || state === 'stopping';
  return [
    world,
    actors.map((one) => (isAlive(one) ? [one.state, one.isPresumedGone, one.threads.map(whatCounts)] : [one.lives])),
    requests.map(({ answer, isGiven, call, actor }) => [call, actor, isGiven, answer === 'lost' ? 'none' : answer]),
  ];
}

function whatCounts(thread: Thread): unknown {
  const { step, opened, call, status, warned, isRepeated, request } = thread;
  return isOver(thread) ? step : [step, opened, call, status, warned, isRepeated, request];
}
