/** Rows of the fault matrix: the journal, on a disk that fails or is full; and the calendar set back. */

import { HARMLESS, IN_JOURNAL, KEPT, NOTHING_ASKED, REPORTED_LATER, SIGNED, unknown } from './courses.ts';
import { type Course, type Row, rowsOf } from './row.ts';

const row = (step: string, right: Course, usual: Row['variants']) => rowsOf(step, ['pe'], right, usual);
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
  opening('nothing can be created in it', 'create:probe:1'),
  opening('its database cannot be created', 'create:database:1'),
  opening('its folder cannot be flushed', 'sync:state:1'),
  opening('its tables cannot be committed', 'commit:journal:1'),
  opening('the order of events cannot be recorded', 'update:counter:1'),
  opening('that a run begins cannot be recorded', 'insert:runs:1'),
  opening('nothing can be removed from it', 'unlink:probe:1'),
  opening('its disk is full', 'create:database:1', { fill: 'journal-full' }, FULL),
  row('journal: space', SIGNED, HARMLESS)('it cannot be made', 'create:space:1'),
  row('journal: space', SIGNED, HARMLESS)('it cannot be written', 'write:space:1'),
  claim('the call cannot be inserted', 'insert:calls:1'),
  claim('its file cannot be inserted', 'insert:files:1'),
  claim('it cannot be committed', 'commit:journal:1@insert:calls:1'),
  claim('its disk is full', 'insert:calls:1', { fill: 'journal-full' }, FULL),
  request('the call cannot be changed', 'update:calls:1'),
  request('it cannot be committed', 'commit:journal:1@update:calls:1'),
  request('nothing can be committed, from now on', 'commit:journal:1+@update:calls:1'),
  request('its disk is full', 'update:calls:1', { fill: 'journal-full' }, FULL),
  signed('the call cannot be changed', 'update:calls:2', HARMLESS, { core: true }),
  signed('it cannot be committed', 'commit:journal:1@update:calls:2'),
  signed('nothing can be committed, from now on', 'commit:journal:1+@update:calls:2', HARMLESS, {
    right: SIGNED_UNKNOWN,
  }),
  signed('its disk is full', 'update:calls:2', { fill: null }, FULL),
  signed('that number and certificate belong together cannot be recorded', 'insert:proven:1'),
  signed(
    'nothing can be committed from now on, nor the copy be flushed',
    'sync:copy:2:EIO commit:journal:1+@update:calls:2',
    { EIO: 'file-system', ENOSPC: 'file-system' },
    { right: { ...unknown(6, 1) } },
  ),
  row('journal: not written', KEPT, { EIO: 'file-system', ENOSPC: 'file-system' })(
    'why the file is not written cannot be recorded',
    'sync:copy:2:EIO update:files:1',
  ),
  written('the file cannot be changed', 'update:files:1', HARMLESS, { right: SIGNED }),
  written('nothing can be committed, from now on', 'commit:journal:1+@update:files:1'),
  written('its disk is full', 'update:files:1', { fill: null }, { ...FULL, right: SIGNED }),
  reported('nothing can be committed, from now on', 'commit:journal:1+@update:calls:5'),
  reported('its disk is full', 'update:calls:5', { fill: null }, { ...FULL, right: SIGNED }),
  over('that it is reported cannot be recorded', 'update:calls:5'),
  over('the call cannot be closed', 'update:calls:4'),
  over('that the run has ended cannot be recorded', 'update:runs:2'),
  over('its disk is full', 'update:runs:2', { fill: null }, FULL),
  over('old calls cannot be removed', 'delete:calls:1'),
  over('old runs cannot be removed', 'delete:runs:1'),
];

const clock = row('clock back an hour', SIGNED, { 'clock-back': null });
const TOO_LATE = { 'clock-back': 'timestamp-failed' } as const;
const LATER = { resumeFault: 'start:process:1:clock-back' } as const;

export const clockRows: readonly Row[] = [
  clock('before the run', 'start:process:1'),
  clock('while the file is read', 'read:file:1'),
  clock('before the request', 'update:calls:1'),
  clock('while the service signs', 'commit:journal:1@update:calls:1'),
  clock('after the answer', 'commit:journal:1@update:calls:2'),
  clock('before the rename', 'rename:copy:1'),
  clock('before the report', 'update:files:1'),
  clock('before the end of the run', 'delete:calls:1'),
  clock('before the timestamp, whose time is an hour ahead then', 'commit:journal:1@update:calls:2', TOO_LATE, {
    timestamp: true,
    right: { ...KEPT, exit: 7 },
  }),
  clock('after the timestamp', 'sync:copy:2', undefined, { timestamp: true }),
  clock(
    'between `sign`, whose rename failed, and `resume`',
    'rename:copy:1',
    { EIO: 'file-system' },
    { ...LATER, right: KEPT },
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
