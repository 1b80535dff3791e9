/** A history of a million entries: a signature reads nothing of it, and it is read in little memory. */

import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/journal/journal.ts';
import { encodeLine } from '../../../src/journal/lines.ts';

const ENTRIES = 1_000_000;
const MEGABYTE = 1024 * 1024;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-long-history-'));
  await build({
    entryPoints: [fileURLToPath(new URL('support/measured.ts', import.meta.url))],
    outfile: join(folder, 'measured.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'error',
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function entry(number: number): HistoryEntry {
  return {
    id: number.toString(16).padStart(16, '0'),
    at: new Date(1_800_000_000_000 + number).toISOString(),
    ended: new Date(1_800_000_000_500 + number).toISOString(),
    file: `build/output/some/folder/program-${number}.exe`,
    bytes: number,
    filesWritten: 1,
    certificate: { name: 'Example Ltd', sha256: 'a'.repeat(64) },
    origin: 'https://sign.example.com',
    code: '1234567',
    algorithm: 'SHA256',
    digest: number.toString(16).padStart(64, '0'),
    record: `0f0e0d0c-0000-4000-8000-${String(number).padStart(12, '0')}`,
    outcome: 'written',
    counted: 'yes',
    reported: 1,
    reason: undefined,
  };
}

/** In the month that is now: the one that is appended to. */
async function writeHistory(state: string): Promise<void> {
  await mkdir(join(state, 'history'), { recursive: true });
  const month = join(state, 'history', `${new Date().toISOString().slice(0, 7)}.jsonl`);
  function* chunks(): Generator<string> {
    for (let from = 0; from < ENTRIES; from += 1000) {
      yield Array.from({ length: 1000 }, (_, index) => encodeLine({ ...entry(from + index) })).join('');
    }
  }
  await pipeline(Readable.from(chunks()), createWriteStream(month));
}

interface Measured {
  readonly entries: number;
  readonly peakBytes: number;
  /** What opening the journal and signing a hundred times has read. */
  readonly signingBytes: number;
  readonly warnings: readonly string[];
}

async function measure(state: string, what: 'sign' | 'history'): Promise<Measured> {
  const child = spawn(process.execPath, [join(folder, 'measured.mjs'), what, state], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return JSON.parse(text) as Measured;
}

test('signing reads nothing of it, and reading it takes less than 100 MiB', async () => {
  const [short, long] = [join(folder, 'short'), join(folder, 'long')];
  await mkdir(short);
  await writeFile(join(short, 'note'), '');
  await writeHistory(long);
  const few = await measure(short, 'sign');
  const many = await measure(long, 'sign');
  console.log('bytes read for a hundred calls with a short and a long history:', few.signingBytes, many.signingBytes);
  expect(few.signingBytes).toBeGreaterThan(0);
  // Names of files and the like: of the entries themselves there are hundreds of megabytes.
  expect(Math.abs(many.signingBytes - few.signingBytes)).toBeLessThan(64 * 1024);

  const { entries, peakBytes, warnings } = await measure(long, 'history');
  console.log('peak of reading it:', Math.round(peakBytes / MEGABYTE), 'MiB');
  expect(entries).toBe(ENTRIES + 100);
  expect(warnings).toEqual([]);
  expect(peakBytes).toBeLessThan(100 * MEGABYTE);
});
