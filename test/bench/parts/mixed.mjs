// A few large programs among many small ones: how long each kind keeps the other waiting.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runOnce, seconds, spread, table } from '../measure.mjs';
import { makeProgram } from '../setting.mjs';
import { makePrograms, startStandIn } from '../stand-in.mjs';
import { fresh } from './batch.mjs';

const SMALL = { files: 200, bytes: 100_000 };
const LARGE = { files: 4, bytes: 300_000_000 };
const LATENCY = 50;
const AT_ONCE = 4;

export const title = `Large programs among small ones: ${LARGE.files} of 300 MB, named first, and ${SMALL.files} of 100 KB, ${AT_ONCE} at once, a wait of ${LATENCY} ms`;

/** @returns the table and the numbers. */
export async function bench(setting, rounds) {
  const folder = join(setting.folder, 'mixed');
  const [both, small, large] = ['both', 'small', 'large'].map((name) => join(folder, name));
  for (const input of [both, large]) makeLarge(join(input, 'a-large'));
  for (const input of [both, small]) makePrograms(join(input, 'b-small'), SMALL.files, SMALL.bytes);
  const standIn = await startStandIn(folder);
  try {
    const env = standIn.env('rsa-3072', LATENCY);
    const times = { smallAlone: [], largeAlone: [], small: [], large: [] };
    for (let round = 0; round <= rounds; round++) {
      const [alone, largeAlone, together] = [
        await signed(folder, small, env),
        await signed(folder, large, env),
        await signed(folder, both, env),
      ];
      if (round === 0) continue;
      times.smallAlone.push(alone['b-small']);
      times.largeAlone.push(largeAlone['a-large']);
      times.small.push(together['b-small']);
      times.large.push(together['a-large']);
    }
    return report(times);
  } finally {
    await standIn.close();
  }
}

function makeLarge(folder) {
  mkdirSync(folder, { recursive: true });
  for (let index = 0; index < LARGE.files; index++) makeProgram(join(folder, `${index}.exe`), LARGE.bytes);
}

/** Signs the folder. @returns for each folder in it the milliseconds until its last result was written. */
async function signed(folder, input, env) {
  const run = fresh(folder, input, env, AT_ONCE);
  const started = Date.now();
  await runOnce(run);
  const output = run.command.at(-1);
  const lastIn = (name) => {
    const files = readdirSync(join(output, name));
    return Math.max(...files.map((file) => statSync(join(output, name, file)).ctimeMs)) - started;
  };
  const times = Object.fromEntries(readdirSync(output).map((name) => [name, lastIn(name)]));
  // The small ones stay: their removal would slow the next run (see fresh).
  rmSync(join(output, 'a-large'), { recursive: true, force: true });
  return times;
}

function report(times) {
  const results = Object.fromEntries(
    Object.entries(times).map(([name, values]) => {
      const sorted = values.toSorted((a, b) => a - b);
      return [name, { median: sorted[sorted.length >> 1], least: sorted[0], most: sorted.at(-1) }];
    }),
  );
  const row = (what, name, alone) => {
    const ratio = alone === undefined ? '' : `${(results[name].median / results[alone].median).toFixed(2)} ×`;
    return [what, seconds(results[name].median), spread(results[name]), ratio];
  };
  const rows = [
    row('small ones alone', 'smallAlone'),
    row('large ones alone', 'largeAlone'),
    row('small ones, of all', 'small', 'smallAlone'),
    row('large ones, of all', 'large', 'largeAlone'),
  ];
  return { text: table(['the last of', 'in place after', 'least–most', 'of that alone'], rows), results };
}
