/** Calls that end at about the same time: their entries are flushed together, each whole and once. */

import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDisk } from '../../../src/journal/disk.ts';
import { openHistory } from '../../../src/journal/history/history.ts';
import type { HistoryEntry } from '../../../src/journal/journal.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-history-'));
});
afterEach(() => rm(folder, { recursive: true }));

const entry = (id: string): HistoryEntry => ({
  id,
  at: '2026-11-21T12:00:00.000Z',
  ended: '2026-11-21T12:00:01.000Z',
  file: 'app.exe',
  bytes: 1,
  filesWritten: 1,
  certificate: { name: 'Example', sha256: '00' },
  origin: 'https://sign.example',
  code: '1',
  algorithm: 'SHA256',
  digest: '00',
  record: id,
  outcome: 'written',
  counted: 'yes',
  reported: 1,
  reason: undefined,
});

const open = () =>
  openHistory({
    folder,
    disk: openDisk(folder),
    now: () => new Date('2026-11-21T12:00:02Z'),
    onDamaged: () => undefined,
    onUnreadable: () => undefined,
  });

async function idsIn(history: ReturnType<typeof open>): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of history.pages()) ids.push(...page.map(({ id }) => id));
  return ids;
}

it('has each entry once, in the order of their ends, with far fewer flushes than entries', async () => {
  const { fdatasync } = fs;
  let flushed = 0;
  const counting = (file: number, then: fs.NoParamCallback): void => {
    flushed += 1;
    fdatasync(file, then);
  };
  fs.fdatasync = Object.assign(counting, { __promisify__: fdatasync.__promisify__ });
  syncBuiltinESMExports();
  const history = open();
  const ids = Array.from({ length: 50 }, (_, index) => `id-${index}`);
  try {
    await Promise.all(ids.map(async (id) => history.append(await history.nextOffset(), entry(id))));
  } finally {
    fs.fdatasync = fdatasync;
    syncBuiltinESMExports();
  }
  expect(await idsIn(history)).toEqual(ids);
  expect(flushed).toBeGreaterThan(0);
  expect(flushed).toBeLessThan(10);
});
