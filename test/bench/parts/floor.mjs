// The client: its processor time against scripts that do only what cannot be avoided, and its time against other programs.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { againstFloors } from '../floor/against-floors.mjs';
import { againstPeers } from '../floor/against-peers.mjs';
import { withoutComparison } from '../floor/without-comparison.mjs';
import { table } from '../measure.mjs';
import { startStandIn } from '../stand-in.mjs';

const HEAD = ['work', 'of', 'Node.js', 'aim', 'result', 'median of the rounds', 'this program', 'the other'];

export const title = 'The client: aims and results';

/** `only`: measures the rows whose work has this text. @returns the table. */
export async function bench(rounds, only = '') {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-bench-'));
  const standIn = await startStandIn(folder);
  const all = [...againstFloors(), ...againstPeers(), ...withoutComparison()];
  const lines = [];
  try {
    for (const [index, { measure, ...row }] of all.filter(({ work }) => work.includes(only)).entries()) {
      const own = join(folder, `row-${index}`);
      const line = lineOf({ ...row, ...(await measure({ folder: own, standIn, rounds })) });
      process.stderr.write(`${line.join(' | ')}\n`);
      lines.push(line);
    }
  } finally {
    await standIn.close();
    await rm(folder, { recursive: true, force: true });
  }
  return table(HEAD, lines);
}

/** `ours` and `theirs` in milliseconds, unless the row has another unit. */
function lineOf({ work, of, node, most, unit, result, ofRounds, ours, theirs }) {
  const digits = unit === '×' ? 2 : 0;
  const inWords = (value) => (value === undefined ? '' : `${value.toFixed(digits)} ${unit}`.trim());
  const time = (value) => (value === undefined ? '' : `${value.toFixed(0)} ms`);
  const found = `${inWords(result)}${result <= most ? '' : ', **missed**'}`;
  return [work, of, node, `≤ ${inWords(most)}`, found, inWords(ofRounds), time(ours), time(theirs)];
}
