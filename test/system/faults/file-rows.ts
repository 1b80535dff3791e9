/** Rows of the fault matrix: the file, its temporary copy and their folder, on a disk that fails or is full. */

import { HARMLESS, IN_FILES, KEPT, NOTHING_ASKED, SIGNED } from './courses.ts';
import { type Course, type Row, rowsOf } from './row.ts';
import { FORMAT_IDS, WAYS_OF_WRITING } from './stage.ts';

const row = (step: string, right: Course) => rowsOf(step, WAYS_OF_WRITING, right, IN_FILES);
const TO_OUTPUT: Partial<Row> = { toOutput: true };
const READING = { EIO: IN_FILES.EIO, EACCES: IN_FILES.EACCES } as const;

const open = row('open', NOTHING_ASKED);
const prepare = row('prepare', NOTHING_ASKED);
const rehearse = row('rehearse', NOTHING_ASKED);
const beforeSign = row('sign', NOTHING_ASKED);
const whileSigning = row('sign', KEPT);
const seal = row('seal', KEPT);
const commit = row('commit', KEPT);
const done = row('commit', SIGNED);

export const fileRows: readonly Row[] = [
  open('the file cannot be opened', 'open:file:1', READING),
  open('the file cannot be read', 'read:file:1', { EIO: IN_FILES.EIO }),
  // Others are still in memory. A catalog is read again before it is signed.
  prepare('the file cannot be opened again', 'open:file:2', READING, { formats: ['large pe', 'cat'] }),
  prepare('the file cannot be read again', 'read:file:2', { EIO: IN_FILES.EIO }, { formats: ['large pe', 'cat'] }),
  // A small file is read once, whole, before its copy is made.
  prepare(
    'the file cannot be read to its end',
    'read:file:1@create:copy:1',
    { EIO: IN_FILES.EIO },
    { formats: ['large pe'] },
  ),
  prepare('the copy cannot be created', 'create:copy:1'),
  prepare('the copy cannot be written', 'write:copy:1'),
  prepare('a real disk is full', 'create:copy:1', { fill: 'disk-full' }, { disk: 'files', formats: ['pe', 'jar'] }),
  // The rehearsal of a small file is the first write of its copy.
  rehearse('the copy cannot be written', 'write:copy:2', IN_FILES, { formats: ['large pe'] }),
  rehearse('the copy cannot be given its mode', 'chmod:copy:1', READING),
  rehearse('a real disk is full', 'write:copy:1', { fill: 'disk-full' }, { disk: 'files', formats: ['pe'] }),
  beforeSign('the file cannot be looked at again', 'stat:file:1@insert:calls:1', READING),
  whileSigning('the copy cannot be flushed', 'sync:copy:1', IN_FILES),
  row('sign', SIGNED)(
    'a real disk fills up',
    'commit:journal:1@update:calls:1',
    { fill: null },
    { disk: 'files', formats: ['pe', 'jar'] },
  ),
  seal('the copy cannot be written', 'write:copy:1@update:calls:2', IN_FILES),
  commit('the copy cannot be flushed', 'sync:copy:2', IN_FILES),
  commit('the copy cannot be read again', 'read:copy:1@sync:copy:2', { EIO: IN_FILES.EIO }),
  commit('the file cannot be looked at again', 'stat:file:1@sync:copy:2', READING),
  // Each format finds its own signature again; that of a package or document with a time of its own.
  commit('the copy cannot be renamed', 'rename:copy:1', IN_FILES, { core: true, formats: FORMAT_IDS }),
  commit('nor can it be renamed, nor removed', 'rename:copy:1:EIO unlink:copy:1', { EIO: IN_FILES.EIO }),
  done('a new file cannot be created by a link', 'link:copy:1', { EPERM: null, ENOTSUP: null, EIO: null }, TO_OUTPUT),
  row('commit', { ...KEPT, file: 'missing' })(
    'nor can it be created by a rename',
    'link:copy:1:EPERM rename:copy:1',
    IN_FILES,
    TO_OUTPUT,
  ),
  done(
    'the other name of a new file cannot be removed',
    'unlink:copy:1',
    { EIO: null },
    { ...TO_OUTPUT, leaves: /left in .*\.tmp$/ },
  ),
  done('the folder cannot be opened to flush it', 'open:folder:1', HARMLESS),
  done('the folder cannot be flushed', 'sync:folder:1', HARMLESS),
];
