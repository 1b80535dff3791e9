// Times programs in turn, so that whatever else the machine does falls on all of them alike.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Runs a command to its end. @returns wall time in milliseconds and, when `memory`, the peak resident size in bytes. */
export async function runOnce({ command, env = {} }, { memory = false } = {}) {
  const [program, ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  let peak = 0;
  // The kernel keeps the highest value itself: asking now and then misses only what the last few milliseconds added.
  const watch = memory && setInterval(() => (peak = Math.max(peak, peakResident(child.pid))), 4);
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${said}`);
  return { milliseconds: performance.now() - started, peak };
}

function peakResident(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // Ended between two looks.
  }
}

/**
 * Runs the contestants in turn, `rounds` times after one that does not count (it warms the page cache).
 * `before` runs untimed ahead of each, and may give what differs of it this time (`env`, `command`). @returns by name: median, least and most milliseconds, and peak bytes.
 */
export async function compete(contestants, { rounds, before = () => undefined, memory = false }) {
  const times = new Map(contestants.map(({ name }) => [name, []]));
  const peaks = new Map();
  for (let round = 0; round <= rounds; round++) {
    for (const contestant of contestants) {
      const { milliseconds } = await runOnce({ ...contestant, ...(await before(contestant)) });
      if (round > 0) times.get(contestant.name).push(milliseconds);
    }
  }
  if (memory) {
    for (const contestant of contestants) {
      const given = { ...contestant, ...(await before(contestant)) };
      peaks.set(contestant.name, (await runOnce(given, { memory: true })).peak);
    }
  }
  return Object.fromEntries(
    contestants.map(({ name }) => {
      const sorted = times.get(name).toSorted((a, b) => a - b);
      const [least, most] = [sorted[0], sorted.at(-1)];
      return [name, { median: sorted[sorted.length >> 1], least, most, peak: peaks.get(name) }];
    }),
  );
}

/** A table in Markdown. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(3)} s`;
export const mebibytes = (bytes) => (bytes ? `${Math.round(bytes / 1024 / 1024)} MiB` : '');
export const spread = ({ least, most }) => `${(least / 1000).toFixed(3)}–${(most / 1000).toFixed(3)}`;
