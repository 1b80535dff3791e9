/** A process of its own that signs a hundred times, or reads the history, and says what that took. */

import { randomBytes } from 'node:crypto';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../src/journal/processes.ts';
import { factsOf, SIGNATURE, workOf } from './works.ts';

const CALLS = 100;
const [, , what, folder = ''] = process.argv;

const started = performance.now();
const journal = await openJournal({
  folder,
  now: () => new Date(),
  uptime: () => Number(process.hrtime.bigint()) / 1e6,
  randomId: () => randomBytes(8).toString('hex'),
  processes: await observeProcesses(),
  keepDays: 90,
  runningFor: 0,
});
const openMilliseconds = performance.now() - started;

const signing = performance.now();
for (let number = 0; what === 'sign' && number < CALLS; number++) {
  const claim = await journal.claim(workOf(number), factsOf('file'));
  await claim.requested();
  await claim.signed({ signature: SIGNATURE, record: 'r' });
  await claim.written('file');
  await claim.reported(1);
}
const signMilliseconds = (performance.now() - signing) / CALLS;

let entries = 0;
if (what === 'history') for await (const _entry of journal.history()) entries += 1;

// In kibibytes, of the whole process.
const peakBytes = process.resourceUsage().maxRSS * 1024;
const { warnings } = journal;
process.stdout.write(JSON.stringify({ entries, peakBytes, openMilliseconds, signMilliseconds, warnings }));
