// How cost grows: with the size of a file, the number of files and of entries, concurrent calls, and the wait for each; next to each the lower bound.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeArchive } from '../make-archive.mjs';
import { mebibytes, runOnce, seconds, table } from '../measure.mjs';
import { CLI, makeProgram } from '../setting.mjs';
import { makePrograms, startStandIn } from '../stand-in.mjs';
import { fresh } from './batch.mjs';

const INFLATE_ALL = fileURLToPath(new URL('../inflate-all.mjs', import.meta.url));
const MEGABYTES = [1, 10, 100, 500, 2000];
const FILES = [1, 10, 100, 1000, 10_000];
const AT_ONCE = [1, 2, 4, 8, 16, 32, 64];
const WAITS = [0, 10, 50, 100, 200, 500];
const ENTRIES = [100, 1000, 10_000, 100_000, 200_000];
/** For concurrent calls, and for waits. */
const BATCH = { files: 200, bytes: 10_000, atOnce: 16, wait: 50 };

export const title = 'How cost grows';

/** One run each. @returns the tables and the numbers. */
export async function bench(setting) {
  const folder = join(setting.folder, 'growth');
  mkdirSync(folder);
  const standIn = await startStandIn(folder);
  const growth = { standIn, folder };
  try {
    const input = join(folder, 'batch');
    makePrograms(input, BATCH.files, BATCH.bytes);
    const parts = [
      await bySize(growth),
      await byEntries(growth),
      await byFiles(growth),
      await byCallsAtOnce(growth, input),
      await byWait(growth, input),
    ];
    const results = Object.fromEntries(parts.map(({ name, found }) => [name, found]));
    return { text: parts.map(({ head, found }) => table(head, found.map(rowOf))).join('\n\n'), results };
  } finally {
    await standIn.close();
  }
}

function rowOf({ of, milliseconds, peak, limit }) {
  const measured = [of, seconds(milliseconds), mebibytes(peak)];
  if (limit === undefined) return measured;
  return [...measured, seconds(limit), limit === 0 ? '' : `${(milliseconds / limit).toFixed(2)} ×`];
}

/** The limit: reading it once through SHA-256, and writing it once. */
async function bySize({ standIn, folder }) {
  const found = [];
  const [program, output] = ['program.exe', 'signed.exe'].map((name) => join(folder, name));
  const env = standIn.env('rsa-3072', 0);
  for (const megabytes of MEGABYTES) {
    makeProgram(program, megabytes * 1_000_000);
    const digest = await runOnce({ command: ['openssl', 'dgst', '-sha256', program] });
    const copy = await runOnce({ command: ['cp', program, output] });
    rmSync(output);
    const command = [process.execPath, CLI, 'sign', '--no-timestamp', program, '-o', output];
    const ours = await runOnce({ command, env }, { memory: true });
    found.push({ of: `${megabytes} MB`, ...ours, limit: digest.milliseconds + copy.milliseconds });
    for (const path of [program, output]) rmSync(path);
  }
  return { name: 'size', head: ['PE', 'time', 'peak memory', 'openssl dgst and cp', 'of that'], found };
}

/** The limit: inflating every entry, by an interpreter of its own. With long names, Java opens no signed archive of 200,000. */
async function byEntries({ standIn, folder }) {
  const found = [];
  const [archive, output] = ['archive.jar', 'signed.jar'].map((name) => join(folder, name));
  const env = standIn.env('rsa-3072', 0);
  for (const entries of ENTRIES) {
    await makeArchive(archive, { entries, bytes: entries * 450, even: true, short: true });
    const inflate = await runOnce({ command: [process.execPath, INFLATE_ALL, archive] });
    const command = [process.execPath, CLI, 'sign', '--no-timestamp', archive, '-o', output];
    const ours = await runOnce({ command, env }, { memory: true });
    found.push({ of: `${entries.toLocaleString('en')} entries`, ...ours, limit: inflate.milliseconds });
    for (const path of [archive, output]) rmSync(path);
  }
  return { name: 'entries', head: ['JAR', 'time', 'peak memory', 'inflate all', 'of that'], found };
}

async function byFiles({ standIn, folder }) {
  const found = [];
  for (const files of FILES) {
    const input = join(folder, `of-${files}`);
    makePrograms(input, files, BATCH.bytes);
    const ours = await runOnce(fresh(folder, input, standIn.env('rsa-2048', 0)), { memory: true });
    found.push({ of: `${files.toLocaleString('en')} files`, ...ours });
  }
  return { name: 'files', head: ['PE of 10 KB, no wait, 16 at once', 'time', 'peak memory'], found };
}

async function byCallsAtOnce({ standIn, folder }, input) {
  const found = [];
  for (const atOnce of AT_ONCE) {
    const ours = await runOnce(fresh(folder, input, standIn.env('rsa-2048', BATCH.wait), atOnce), { memory: true });
    found.push({ of: `${atOnce} at once`, ...ours, limit: (BATCH.wait * BATCH.files) / atOnce });
  }
  return {
    name: 'at once',
    head: ['200 PE, wait of 50 ms', 'time', 'peak memory', 'the waits alone', 'of that'],
    found,
  };
}

async function byWait({ standIn, folder }, input) {
  const found = [];
  for (const wait of WAITS) {
    const ours = await runOnce(fresh(folder, input, standIn.env('rsa-2048', wait), BATCH.atOnce), { memory: true });
    found.push({ of: `${wait} ms`, ...ours, limit: (wait * BATCH.files) / BATCH.atOnce });
  }
  return { name: 'wait', head: ['200 PE, 16 at once', 'time', 'peak memory', 'the waits alone', 'of that'], found };
}
