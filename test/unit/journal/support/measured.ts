/** A process of its own that opens a journal and signs a hundred times, or reads the history, and says what it has read for that. */

import { randomBytes, randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openJournal } from '../../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../../src/journal/processes.ts';
import { factsOf, SIGNATURE, workOf } from './works.ts';

const CALLS = 100;
const [, , what, folder = ''] = process.argv;

/** Bytes that this process has asked the system for so far: proc(5), /proc/pid/io. */
function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

const before = bytesRead();
const journal = await openJournal({
  folder,
  now: () => new Date(),
  uptime: () => Number(process.hrtime.bigint()) / 1e6,
  randomId: () => randomBytes(8).toString('hex'),
  processes: await observeProcesses(),
  keepDays: 90,
  runningFor: 0,
});
const first = randomInt(2 ** 40);
for (let number = 0; what === 'sign' && number < CALLS; number++) {
  const claim = await journal.claim(workOf(first + number), factsOf('file'));
  await claim.requested();
  await claim.signed({ signature: SIGNATURE, record: 'r' });
  await claim.written('file');
  await claim.reported(1);
}
await journal.ended();
const signingBytes = bytesRead() - before;

let entries = 0;
if (what === 'history') for await (const _entry of journal.history()) entries += 1;

// In kibibytes, of the whole process.
const peakBytes = process.resourceUsage().maxRSS * 1024;
const { warnings } = journal;
process.stdout.write(JSON.stringify({ entries, peakBytes, signingBytes, warnings }));
