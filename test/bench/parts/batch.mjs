// Batches of small programs: with a service that takes its time, with one that does not, and ten thousand of them for the memory.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { compete, mebibytes, runOnce, seconds, spread, table } from '../measure.mjs';
import { CLI } from '../setting.mjs';
import { makePrograms, startStandIn } from '../stand-in.mjs';

const BYTES = 100_000;
const AT_ONCE = 16;
const SLOW = { files: 200, latency: 50 };
const FAST = { files: 1000, peerFiles: 200 };
const MANY = { files: [100, 1000, 10_000], bytes: 10_000 };

export const title = 'Batches: many small programs';

/** @returns the tables and the numbers. */
export async function bench(setting, rounds) {
  const folder = join(setting.folder, 'batch');
  mkdirSync(folder);
  const standIn = await startStandIn(folder);
  try {
    const batch = { setting, standIn, folder };
    const slow = await slowService(batch, rounds);
    const fast = await fastService(batch, rounds);
    const many = await manyFiles(batch);
    const results = { slow: slow.results, fast: fast.results, many: many.results };
    return { text: [slow.text, fast.text, many.text].join('\n\n'), results };
  } finally {
    await standIn.close();
  }
}

async function slowService({ standIn, folder }, rounds) {
  const [input, one] = ['200', '1'].map((name) => join(folder, name));
  makePrograms(input, SLOW.files, BYTES);
  makePrograms(one, 1, BYTES);
  const contestants = [
    { name: 'one file, no wait', input: one, latency: 0 },
    { name: `${SLOW.files} files`, input, latency: SLOW.latency },
  ];
  const before = ({ input: from, latency }) => fresh(folder, from, standIn.env('rsa-3072', latency));
  const found = await compete(contestants, { rounds, before });
  const start = found[contestants[0].name];
  const whole = found[contestants[1].name];
  const least = (SLOW.latency * SLOW.files) / AT_ONCE;
  const ratio = (whole.median - start.median) / least;
  const row = [
    `${SLOW.files}, ${SLOW.latency} ms`,
    seconds(whole.median),
    spread(whole),
    seconds(start.median),
    seconds(least),
    `${ratio.toFixed(2)} ×`,
  ];
  const head = [
    'files, wait',
    'median',
    'least–most',
    'of it one file without the wait',
    'least there can be',
    'the rest of it',
  ];
  return { text: table(head, [row]), results: { whole, start, least, ratio } };
}

async function fastService({ setting, standIn, folder }, rounds) {
  const [input, peerInput] = ['1000', 'peer'].map((name) => join(folder, name));
  makePrograms(input, FAST.files, BYTES);
  makePrograms(peerInput, FAST.peerFiles, BYTES);
  const ours = (name, env) => ({ name, input, env, files: FAST.files });
  const peer = { name: 'osslsigncode, a process each, RSA-3072', files: FAST.peerFiles, key: 'rsa-3072' };
  const contestants = [
    ours('stand-in, RSA-2048', standIn.env('rsa-2048', 0)),
    ours('stand-in, RSA-3072', standIn.env('rsa-3072', 0)),
    ours('bundled server, SoftHSM, RSA-3072', setting.env),
    peer,
  ];
  const before = ({ key, env }) =>
    key === undefined ? fresh(folder, input, env) : oneByOne(folder, peerInput, standIn.local(key));
  const found = await compete(contestants, { rounds, before });
  const rows = contestants.map(({ name, files }) => {
    const { median, least, most } = found[name];
    found[name].perSecond = (files * 1000) / median;
    const per = (milliseconds) => ((files * 1000) / milliseconds).toFixed(0);
    return [name, files, seconds(median), `${per(median)} /s`, `${per(most)}–${per(least)}`];
  });
  return { text: table(['signed by', 'files', 'median', 'files', 'least–most'], rows), results: found };
}

async function manyFiles({ standIn, folder }) {
  const results = {};
  for (const files of MANY.files) {
    const input = join(folder, `of-${files}`);
    makePrograms(input, files, MANY.bytes);
    results[files] = await runOnce(fresh(folder, input, standIn.env('rsa-2048', 0)), { memory: true });
  }
  const rows = Object.entries(results).map(([files, { milliseconds, peak }]) => {
    const each = `${(milliseconds / Number(files)).toFixed(2)} ms`;
    return [Number(files).toLocaleString('en'), seconds(milliseconds), each, mebibytes(peak)];
  });
  return { text: table(['files of 10 KB', 'time', 'each', 'peak memory'], rows), results };
}

let runs = 0;

/** Results and journal of a run in folders of their own: a file system that has just removed many files makes new ones slowly. */
export function fresh(folder, input, env) {
  const own = join(folder, `run-${++runs}`);
  const options = ['--no-timestamp', '--concurrency', AT_ONCE, '--recursive', input, '-o', join(own, 'signed')];
  mkdirSync(own);
  return {
    command: [process.execPath, CLI, 'sign', ...options.map(String)],
    env: { ...env, CODESIGN_STATE_DIR: join(own, 'state') },
  };
}

/** A process of osslsigncode for each file. */
export function oneByOne(folder, input, { key, certificate }) {
  const output = join(folder, `run-${++runs}`);
  mkdirSync(output);
  const one = 'osslsigncode sign -certs "$1" -key "$2" -h sha256 -in "$f" -out "$3/$(basename "$f")" >&2';
  return { command: ['sh', '-ec', `for f in "$4"/*; do ${one}; done`, 'sh', certificate, key, output, input] };
}
