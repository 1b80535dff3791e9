/** A journal that version 0.1.0 wrote, with a call of every kind. The format on disk must stay readable both ways. */

import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { factsOf, historyOf, journalSetting, type Setting, workOf } from './support/setting.ts';

const WRITTEN = join(import.meta.dirname, 'previous-version');

let setting: Setting;
beforeEach(async () => {
  setting = await journalSetting();
  await cp(WRITTEN, setting.folder, { recursive: true });
  setting.ended.add(101);
});
afterEach(() => setting[Symbol.asyncDispose]());

const work = (number: number) => workOf(0, { digest: Buffer.alloc(32, number).toString('hex') });

test('lists its calls with all that was recorded', async () => {
  const journal = readJournal(setting.options());
  const calls = await journal.unfinished();
  const listed = calls.map(({ kind, metadata, record, reason }) => [kind, metadata.file, record, reason]);
  expect(listed.sort()).toEqual([
    ['unknown', 'unknown.exe', undefined, 'the connection broke'],
    ['unreported', 'unreported.exe', 'r4', undefined],
    ['unwritten', 'unusable.exe', undefined, undefined],
    ['unwritten', 'unwritten.exe', 'r3', undefined],
  ]);
  const unwritten = calls.find(({ metadata }) => metadata.file === 'unwritten.exe');
  expect(unwritten).toMatchObject({
    work: work(3),
    metadata: { bytes: 1234, certificate: { name: 'Example Ltd', sha256: 'aa' }, client: 'c0ffee' },
    files: [{ written: false, unusable: false, reason: 'the disk is full' }],
  });
  const options = { path: '/project/unwritten.exe', output: '/out/unwritten.exe', existing: 'append', report: true };
  expect(unwritten?.files[0]?.signingOptions).toMatchObject(options);
  expect(unwritten?.files[0]?.signingOptions?.formatOptions).toEqual({
    description: 'A program',
    url: 'https://example.com',
  });
  expect(journal.warnings).toEqual([]);
});

test('has its history', async () => {
  const entries = await historyOf(readJournal(setting.options()));
  expect(entries.map((entry) => [entry.file, entry.outcome, entry.counted, entry.filesWritten]).sort()).toEqual([
    ['refused.exe', 'refused', 'no', 0],
    ['unknown.exe', 'unknown', 'unknown', 0],
    ['unreported.exe', 'unreported', 'yes', 1],
    ['unusable.exe', 'unusable', 'yes', 0],
    ['unwritten.exe', 'unwritten', 'yes', 0],
    ['written.exe', 'written', 'yes', 1],
  ]);
});

test('gives its signatures to claims of the same work, and writes what the version before can read', async () => {
  const journal = await setting.open();
  const claim = await journal.claim(work(3), {
    ...factsOf('unwritten.exe'),
    signingOptions: { path: '/project/x', output: '/out/x', formatOptions: { description: 'A program' } },
  });
  expect(claim.known).toEqual({ signature: Uint8Array.of(3, 3, 3), record: 'r3' });
  const calls = join(setting.folder, 'calls');
  const texts = await Promise.all((await readdir(calls)).map((name) => readFile(join(calls, name), 'utf8')));
  const shared = texts.flatMap((text) => text.split('\n')).find((line) => line.startsWith('{"step":"shared"'));
  expect(JSON.parse(shared ?? '')).toMatchObject({
    work: { origin: 'https://sign.example', code: 'C-1' },
    facts: {
      file: 'unwritten.exe',
      client: 'c0ffee',
      manner: {
        path: '/project/x',
        output: '/out/x',
        existing: 'replace',
        description: 'A program',
        allowUnsignedResult: false,
      },
    },
  });
  const [listed] = (await journal.unfinished()).filter(({ work: { digest } }) => digest.startsWith('03'));
  expect(listed?.files.at(-1)?.signingOptions).toEqual({
    path: '/project/x',
    output: '/out/x',
    existing: undefined,
    formatOptions: { description: 'A program' },
  });
  await claim.written('/out/x');
  await claim.reported(1);
  expect((await journal.unfinished()).map(({ metadata }) => metadata.file)).not.toContain('unwritten.exe');
});
