// Runs programs in turn, so that whatever else the machine does falls on all of them alike.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROCESSOR_TIME = fileURLToPath(new URL('processor-time.py', import.meta.url));

/** Runs a command to its end. @returns what it took: `processor` and `wall` in milliseconds, `peak` memory in bytes. */
export async function runOnce({ command, env = {} }) {
  const stdio = ['ignore', 'ignore', 'pipe', 'pipe'];
  const child = spawn('python3', [PROCESSOR_TIME, ...command], { env: { ...process.env, ...env }, stdio });
  let took = '';
  let said = '';
  child.stdio[3].setEncoding('utf8').on('data', (text) => (took += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${said}`);
  return JSON.parse(took);
}

/**
 * Runs the contestants in turn, `rounds` times after one that does not count (it warms the page cache). `before` runs untimed
 * ahead of each, and may return what differs this time (`env`, `command`).
 * @returns by name, what each round took
 */
export async function compete(contestants, { rounds, before = () => undefined }) {
  const taken = Object.fromEntries(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const contestant of contestants) {
      const took = await runOnce({ ...contestant, ...(await before(contestant)) });
      if (round > 0) taken[contestant.name].push(took);
    }
  }
  return taken;
}

export const least = (rounds, what) => Math.min(...rounds.map((took) => took[what]));
export const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Of two that ran in turn: the least of one in the least of the other, and the median of the rounds' ratios. */
export function ratioOf(ours, theirs, what) {
  return {
    ratio: least(ours, what) / least(theirs, what),
    ofRounds: median(ours.map((took, round) => took[what] / theirs[round][what])),
  };
}

/** A table in Markdown. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
