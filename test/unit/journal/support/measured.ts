/** A process that opens a journal and signs a hundred times, or reads the history, and prints how much it read and wrote. */

import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openJournal } from '../../../../src/journal/open-journal.ts';
import { askingOf, optionsHere, SIGNATURE } from './works.ts';

const CALLS = 100;
const [, , what, folder = ''] = process.argv;

/** Bytes that this process has read or written so far: proc(5), /proc/pid/io. */
function bytesOf(what: 'rchar' | 'wchar'): number {
  return Number(new RegExp(`^${what}: (\\d+)$`, 'm').exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

const [readBefore, writtenBefore] = [bytesOf('rchar'), bytesOf('wchar')];
const journal = await openJournal(optionsHere(folder));
const first = randomInt(2 ** 40);
for (let number = 0; what === 'sign' && number < CALLS; number++) {
  const asking = askingOf(first + number);
  await journal.known(asking);
  const claim = await journal.claim(asking);
  await claim?.requested();
  claim?.mayBeSent();
  await claim?.signed({ signature: SIGNATURE, record: 'r' });
  await claim?.written('file');
  await claim?.reported(1);
}
await journal.close();
const [bytesRead, bytesWritten] = [bytesOf('rchar') - readBefore, bytesOf('wchar') - writtenBefore];

let entries = 0;
if (what === 'history') for await (const _entry of journal.history()) entries += 1;

journal.ended();
// In kibibytes, of the whole process.
const peakBytes = process.resourceUsage().maxRSS * 1024;
const { warnings } = journal;
const measured = { entries, peakBytes, bytesRead, bytesWritten, warnings };
export type Measured = typeof measured;
process.stdout.write(JSON.stringify(measured));
