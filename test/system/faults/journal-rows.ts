/** Rows of the fault matrix: the journal, on a disk that fails or is full; and the calendar set back. */

import { HARMLESS, IN_JOURNAL, KEPT, NOTHING_ASKED, REPORTED_LATER, SIGNED, unknown } from './courses.ts';
import type { Course, Row } from './row.ts';

type Variants = Row['variants'];

const row =
  (step: string, right: Course, otherwise: Variants) =>
  (fault: string, files: string, variants: Variants = otherwise, more: Partial<Row> = {}): Row => ({
    step,
    fault,
    formats: ['pe'],
    variants,
    files,
    right,
    ...more,
  });

/** Signed, with a journal that has no word of the signature: it cannot say that it was not lost. */
const SIGNED_UNKNOWN: Course = { ...SIGNED, resume: '0, unknown: left' };
const FULL = { disk: 'journal' } as const;

const opening = row('journal: open', NOTHING_ASKED, IN_JOURNAL);
const claim = row('journal: claim', NOTHING_ASKED, IN_JOURNAL);
const request = row('journal: requested', NOTHING_ASKED, IN_JOURNAL);
const signed = row('journal: signed', SIGNED, HARMLESS);
const written = row('journal: written', { ...SIGNED, resume: '0, unwritten: finished' }, HARMLESS);
const reported = row('journal: reported', REPORTED_LATER, HARMLESS);
const over = row('journal: over', SIGNED, HARMLESS);

export const journalRows: readonly Row[] = [
  opening('its folder cannot be made', 'mkdir:state:1'),
  opening('one of its folders cannot be made', 'mkdir:calls-folder:1'),
  opening('nothing can be written into it', 'writeFile:probe:1'),
  opening('a folder takes no new file', 'create:probe:1'),
  opening('nothing can be renamed in it', 'rename:probe:1'),
  opening('nothing can be removed from it', 'unlink:probe:1'),
  opening('its disk is full', 'writeFile:probe:1', { fill: 'journal-full' }, FULL),
  claim('that this run is at work cannot be noted', 'create:running:1'),
  claim('the call cannot be created', 'create:calls:1'),
  claim('the call cannot be written', 'write:calls:1'),
  claim('its disk is full', 'write:calls:1', { fill: 'journal-full' }, FULL),
  request('the call cannot be written', 'write:calls:2'),
  // Half a line may have been the one before a request: what cannot be read is treated as the worse.
  request('the call cannot be written, from now on', 'write:calls:2+', IN_JOURNAL, {
    right: { ...NOTHING_ASKED, resume: '0, unknown: left', again: '0, asked, warns' },
  }),
  request('the call cannot be flushed', 'datasync:calls:1'),
  request('its folder cannot be flushed', 'sync:calls-folder:1'),
  signed('the call cannot be written', 'write:calls:3', HARMLESS, { core: true }),
  signed('the call cannot be flushed', 'datasync:calls:2'),
  signed('the call cannot be written, from now on', 'write:calls:3+', HARMLESS, { right: SIGNED_UNKNOWN }),
  signed('its disk is full', 'write:calls:3', { fill: null }, FULL),
  signed(
    'the call cannot be written from now on, nor the copy be flushed',
    'sync:copy:2:EIO write:calls:3+',
    { EIO: 'file-system', ENOSPC: 'file-system' },
    { right: { ...unknown(6, 1) } },
  ),
  row('journal: not written', KEPT, { EIO: 'file-system', ENOSPC: 'file-system' })(
    'why the file is not written cannot be noted',
    'sync:copy:2:EIO write:calls:4',
  ),
  // Noted once more with the report.
  written('the call cannot be written', 'write:calls:4', HARMLESS, { right: SIGNED }),
  written('the call cannot be written, from now on', 'write:calls:4+'),
  written('its disk is full', 'write:calls:4', { fill: null }, { ...FULL, right: SIGNED }),
  reported('the call cannot be written', 'write:calls:5'),
  reported('the call cannot be written, from now on', 'write:calls:5+'),
  over('its end cannot be begun', 'write:calls:6'),
  over('the history cannot be opened', 'create:history:1'),
  over('the history cannot be written', 'write:history:1', HARMLESS, { leaves: /1 damaged line/ }),
  over('the history cannot be flushed', 'datasync:history:1'),
  over("the history's folder cannot be flushed", 'sync:history-folder:1'),
  over('what has proven itself cannot be noted', 'create:proven:1'),
  over('the folder for calls that are over cannot be made', 'mkdir:finished:1'),
  over('the word that this run is at work cannot be removed', 'unlink:running:1'),
  over('the call cannot be moved away', 'rename:calls:1+'),
  over('its disk is full', 'create:history:1', { fill: null }, FULL),
];

const clock = row('clock back an hour', SIGNED, { 'clock-back': null });
const TOO_LATE = { 'clock-back': 'timestamp-failed' } as const;
const LATER = { resumeFault: 'start:process:1:clock-back' } as const;

export const clockRows: readonly Row[] = [
  clock('before the run', 'start:process:1'),
  clock('while the file is read', 'read:file:1'),
  clock('before the request', 'write:calls:2'),
  clock('while the service signs', 'datasync:calls:1'),
  clock('after the answer', 'datasync:calls:2'),
  clock('before the rename', 'rename:copy:1'),
  clock('before the report', 'write:calls:4'),
  clock('before the entry in the history', 'create:history:1'),
  clock('before the timestamp, whose time is an hour ahead then', 'datasync:calls:2', TOO_LATE, {
    timestamp: true,
    right: { ...KEPT, exit: 7 },
  }),
  clock('after the timestamp', 'sync:copy:2', undefined, { timestamp: true }),
  clock(
    'between `sign`, whose rename failed, and `resume`',
    'rename:copy:1',
    { EIO: 'file-system' },
    {
      ...LATER,
      right: KEPT,
    },
  ),
  {
    step: 'clock back an hour',
    fault: 'between `sign`, which had no answer, and `resume`',
    formats: ['pe'],
    variants: { '-': 'connection-broken' },
    network: { operation: 'sign', harm: 'reset-before-answer' },
    ...LATER,
    right: unknown(3, 1),
  },
  {
    step: 'clock back an hour',
    fault: 'between `sign`, whose report was lost, and `resume`',
    formats: ['pe'],
    variants: { '-': null },
    network: { operation: 'report-sign', harm: 'reset-before' },
    ...LATER,
    right: REPORTED_LATER,
  },
];
