/** What accidents do to the journal's files: nothing that is damaged is believed, and nothing that is whole is lost with it. */

import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { decodeLine, encodeLine, splitLines } from '../../../src/journal/lines.ts';
import {
  factsOf,
  historyOf,
  journalSetting,
  type Setting,
  SIGNATURE,
  sign,
  signAndReport,
  unfinishedOf,
  workOf,
} from './support/setting.ts';

let setting: Setting;
let journal: Journal;
beforeEach(async () => {
  setting = await journalSetting();
  journal = await setting.open();
});
afterEach(() => setting[Symbol.asyncDispose]());

const WORK = workOf(1);

/** The line that holds the text, with one of its characters changed. */
const flipLine = (text: string, holding: string): string =>
  text
    .split('\n')
    .map((line) => (line.includes(holding) ? `${line.slice(0, 30)}~${line.slice(31)}` : line))
    .join('\n');

/** A signature that waits for its file, whose process is gone. */
async function leaveUnwritten(): Promise<string> {
  const claim = await journal.claim(WORK, factsOf('a'));
  await sign(claim);
  setting.ended.add(101);
  return claim.id;
}

describe('a line', () => {
  const line = encodeLine({ step: 'x', text: 'Grüße \u2028 "quoted" \ud800', number: 1 });

  test('is read as it was written', () => {
    expect(decodeLine(line.trimEnd())).toMatchObject({ step: 'x', text: 'Grüße \u2028 "quoted" \ud800', number: 1 });
  });

  test('is rejected with any one character changed, and at any shorter length', () => {
    const whole = line.trimEnd();
    const other = (at: number) => (whole[at] === '0' ? '1' : '0');
    const damaged = Array.from(whole, (_, at) => [
      whole.slice(0, at) + other(at) + whole.slice(at + 1),
      whole.slice(0, at),
    ]);
    expect(damaged.flat().filter((text) => decodeLine(text) !== undefined)).toEqual([]);
  });

  test('is torn when it is the last and does not end', () => {
    expect(splitLines(Buffer.from('a\n\nb'))).toEqual({ lines: ['a', 'b'], terminated: false });
    expect(splitLines(Buffer.from('a\n'))).toEqual({ lines: ['a'], terminated: true });
  });
});

describe('the file of a call', () => {
  test('that was torn while the request was about to go: it never went', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    await setting.tamper('calls', (text) => text.slice(0, -40));
    setting.ended.add(101);
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([]);
    expect((await later.claim(WORK, factsOf('a'))).unknownCalls).toEqual([]);
  });

  test('that was torn while the signature was recorded: it may have been counted', async () => {
    const id = await leaveUnwritten();
    await setting.tamper('calls', (text) => text.slice(0, -40));
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([['unknown', id]]);
    expect((await later.claim(WORK, factsOf('a'))).unknownCalls).toEqual([id]);
  });

  test.each(['claimed', 'requested'])('gives its signature although its line "%s" is damaged', async (step) => {
    const id = await leaveUnwritten();
    await setting.tamper('calls', (text) => flipLine(text, `"${step}"`));
    const later = await setting.open();
    const again = await later.claim(WORK, factsOf('a'));
    expect(again).toMatchObject({ id, known: { signature: SIGNATURE } });
    expect(await again.written('a')).toMatchObject({ reportDue: true });
    await again.reported(1);
    expect(await historyOf(later)).toMatchObject([{ id, file: 'a', outcome: 'written' }]);
  });

  test('gives its signature although both lines that say whose it is are damaged', async () => {
    const id = await leaveUnwritten();
    await setting.tamper('calls', (text) => flipLine(flipLine(text, '"claimed"'), '"requested"'));
    const again = await (await setting.open()).claim(WORK, factsOf('a'));
    expect(again).toMatchObject({ id, known: { signature: SIGNATURE } });
  });

  test('whose request is damaged is treated as one that went', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    await setting.tamper('calls', (text) => flipLine(text, '"requested"'));
    setting.ended.add(101);
    expect(await unfinishedOf(await setting.open())).toEqual([['unknown', claim.id]]);
  });

  test('whose signature is damaged may have been counted, with a warning', async () => {
    const id = await leaveUnwritten();
    await setting.tamper('calls', (text) => flipLine(text, '"signed"'));
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([['unknown', id]]);
    expect(later.warnings).toEqual([
      expect.stringMatching(/for a is damaged: .*[0-9a-f]{64}\.jsonl \[call-of-file-damaged\]$/),
    ]);
  });

  test.each([
    ['a byte of its only line flipped', (text: string) => flipLine(text.slice(0, text.indexOf('\n') + 1), '"claimed"')],
    ['garbage', () => 'garbage\n\0\0\0\n'],
    ['zero bytes alone, as after a power failure', (text: string) => '\0'.repeat(text.length)],
    ['one line of 1 MB that does not end', () => 'x'.repeat(1_000_000)],
    ['its first line cut', (text: string) => text.slice(0, 100)],
    ['nothing in it', () => ''],
  ])(
    'without a first line (%s) is reported, and kept aside as a call that may have been counted',
    async (_what, change) => {
      await leaveUnwritten();
      await setting.tamper('calls', change);
      const later = await setting.open();
      expect(await later.unfinished()).toEqual([]);
      expect(later.warnings.join()).toMatch(
        /is damaged, and its signature may have been counted: .*\.jsonl \[call-damaged\]$/,
      );

      const again = await later.claim(WORK, factsOf('a'));
      const [damaged = ''] = again.unknownCalls;
      const warning = `for a was damaged: a signature of certificate number C-1 at https://sign.example may have been counted`;
      expect(later.warnings.join()).toMatch(
        new RegExp(`${warning} and lost; it is kept as call ${damaged} \\[signature-perhaps-lost\\]$`),
      );
      await sign(again);
      await again.written('a');
      await again.reported(1);
      expect(await unfinishedOf(later)).toEqual([['unknown', damaged]]);
      expect((await historyOf(later)).map(({ outcome }) => outcome).sort()).toEqual(['unknown', 'written']);
      expect(await later.forget(damaged)).toBe('forgotten');
      expect(await unfinishedOf(later)).toEqual([]);
    },
  );

  test('is kept with its damage when it is moved aside', async () => {
    await journal.claim(WORK, factsOf('a'));
    await setting.tamper('calls', () => 'garbage');
    const { id } = await (await setting.open()).claim(WORK, factsOf('a'));
    const [aside = ''] = (await setting.files()).filter((file) => file.startsWith('aside/'));
    expect(await readFile(join(setting.folder, aside), 'utf8')).toMatch(/^garbage\n/);
    expect(aside).not.toContain(id);
  });

  test.each(['', 'garbage'])(
    'that was moved aside still warns and can be given up when it holds "%s"',
    async (content) => {
      const claim = await journal.claim(WORK, factsOf('a'));
      await claim.requested();
      await claim.unanswered('no answer');
      await setting.tamper('aside', () => content);
      const later = await setting.open();
      expect(await later.unfinished()).toEqual([]);
      expect(later.warnings.join()).toContain(`${claim.id}.jsonl`);
      const again = await later.claim(WORK, factsOf('a'));
      expect(again.unknownCalls).toEqual([claim.id]);
      await again.release();
      expect(await later.forget(claim.id)).toBe('forgotten');
      expect((await later.claim(WORK, factsOf('a'))).unknownCalls).toEqual([]);
    },
  );

  test('that is finished warns that its signature cannot be used again', async () => {
    await signAndReport(journal, WORK, 'a');
    await setting.tamper('finished', () => '');
    expect((await journal.claim(WORK, factsOf('a'))).known).toBeUndefined();
    expect(journal.warnings).toEqual([expect.stringContaining('finished entry of the journal for a is damaged')]);
  });

  test('that was removed while the service was asked: its signature is kept anyway', async () => {
    const claim = await journal.claim(WORK, factsOf('a'));
    await claim.requested();
    const [file = ''] = (await setting.files()).filter((name) => name.startsWith('calls/'));
    await (await import('node:fs/promises')).rm(join(setting.folder, file));
    await claim.signed({ signature: SIGNATURE, record: 'r-1' });
    expect(await unfinishedOf(journal)).toEqual([['under-way', claim.id]]);
    expect(await claim.written('a')).toMatchObject({ reportDue: true });
    await claim.reported(1);
    expect(await historyOf(journal)).toMatchObject([{ id: claim.id, record: 'r-1', outcome: 'written' }]);
  });

  test('stays whole next to files that are not of the journal', async () => {
    const id = await leaveUnwritten();
    await writeFile(join(setting.folder, 'calls', 'notes.txt'), 'mine');
    await writeFile(join(setting.folder, 'aside', 'README'), 'mine');
    await mkdir(join(setting.folder, 'history', 'old'));
    await mkdir(join(setting.folder, 'calls', `${'0'.repeat(64)}.jsonl`));
    const later = await setting.open();
    expect(await unfinishedOf(later)).toEqual([['unwritten', id]]);
    expect(later.warnings).toMatchObject([expect.stringContaining('cannot be read')]);
    await expect(readFile(join(setting.folder, 'calls', 'notes.txt'), 'utf8')).resolves.toBe('mine');
  });
});

describe('the history', () => {
  const month = (): string => join(setting.folder, 'history', '2026-11.jsonl');

  test('leaves out a torn last line and reports it; the next entry is whole', async () => {
    await signAndReport(journal, workOf(1), 'a');
    await signAndReport(journal, workOf(2), 'b');
    await setting.tamper('history', (text) => text.slice(0, -25));
    await signAndReport(journal, workOf(3), 'c');
    expect((await historyOf(journal)).map(({ file }) => file)).toEqual(['a', 'c']);
    expect(journal.warnings).toMatchObject([expect.stringContaining('1 damaged line')]);
  });

  test('leaves out flipped and foreign lines, and lines without an end in sight', async () => {
    await signAndReport(journal, workOf(1), 'a');
    await signAndReport(journal, workOf(2), 'b');
    await setting.tamper('history', (text) => flipLine(text, '"file":"a"'));
    await appendFile(month(), `{"hello":1}\n${encodeLine({ hello: 1 })}${'x'.repeat(3_000_000)}\n`);
    await signAndReport(journal, workOf(3), 'c');
    expect((await historyOf(journal)).map(({ file }) => file)).toEqual(['b', 'c']);
    expect(journal.warnings).toMatchObject([expect.stringContaining('4 damaged lines')]);
  });

  test('goes by months, and is kept for as long as was asked', async () => {
    const days = (count: number): number => count * 86_400_000;
    await signAndReport(journal, workOf(1), 'november');
    setting.clock.wall = days(20);
    await signAndReport(journal, workOf(2), 'december');
    expect((await historyOf(journal)).map(({ file }) => file)).toEqual(['november', 'december']);
    // November ended 10 days after the beginning.
    setting.clock.wall = days(99);
    expect(await historyOf(await setting.open())).toHaveLength(2);
    setting.clock.wall = days(101);
    expect(await historyOf(await setting.open({ keepDays: 400 }))).toHaveLength(2);
    expect((await historyOf(await setting.open())).map(({ file }) => file)).toEqual(['december']);
  });

  test.each([
    ['an hour', 3_600_000],
    ['a month', 31 * 86_400_000],
  ])('loses nothing by a clock that goes back %s between two runs, nor is anything asked twice', async (_by, back) => {
    await signAndReport(journal, workOf(1), 'a');
    const unwritten = await journal.claim(workOf(2), factsOf('b'));
    await sign(unwritten);
    const unreported = await journal.claim(workOf(3), factsOf('c'));
    await sign(unreported);
    await unreported.written('c');
    const unknown = await journal.claim(workOf(4), factsOf('d'));
    await unknown.requested();
    setting.ended.add(101);
    setting.clock.wall -= back;
    setting.clock.up = 0;

    const later = await setting.open({ self: { boot: 'second' } });
    expect((await unfinishedOf(later)).map(([kind]) => kind).sort()).toEqual(['unknown', 'unreported', 'unwritten']);
    for (const number of [1, 2, 3]) expect((await later.claim(workOf(number), factsOf('x'))).known).toBeDefined();
    expect((await later.claim(workOf(4), factsOf('d'))).unknownCalls).toEqual([unknown.id]);
    expect((await historyOf(await setting.open({ self: { boot: 'second' } }))).map(({ file }) => file).sort()).toEqual([
      'a',
      'b',
      'c',
      'd',
      'd',
    ]);
  });

  test('survives a clock that goes back', async () => {
    await signAndReport(journal, workOf(1), 'a');
    setting.clock.wall = -40 * 86_400_000;
    await signAndReport(journal, workOf(2), 'b');
    const claim = await journal.claim(workOf(1), factsOf('again'));
    // It ended while this run was going, whatever the clock on the wall says.
    expect(claim.known).toBeDefined();
    expect((await historyOf(journal)).map(({ file }) => file)).toEqual(['b', 'a']);
  });
});
