/** A process that runs some cases of one target: what is wrong goes to standard output, a line each; where it is goes to a file. */

import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openBases } from './bases.ts';
import { checkCase, MOST_MEBIBYTES, MOST_SECONDS } from './check-case.ts';
import { randomOfCase } from './mutations/random.ts';
import { targetNamed } from './targets.ts';

export interface Job {
  readonly target: string;
  readonly seed: number;
  readonly first: number;
  readonly cases: number;
  readonly fixtures: string;
  readonly corpus: string | undefined;
  readonly folder: string;
  readonly faults: string;
  /** How many results are kept for other programs to check. */
  readonly samples: number;
  /** Writes the first case, and runs none: for what hangs. */
  readonly writeOnly?: boolean;
}

/** A line of the output: a faulty case. */
export interface FaultyCase {
  readonly target: string;
  readonly case: number;
  readonly fault: string;
  readonly file: string;
}

/** The last line of the output. */
export interface JobResult {
  readonly done: number;
  /** What came of the cases: word → how many. */
  readonly words: Readonly<Record<string, number>>;
  /** By which checks raised the peak of the process; what it takes to make cases does not count. */
  readonly mebibytes: number;
}

/** Of one job: what follows is most often the same fault again. */
const MOST_FAULTS = 5;

async function run(job: Job): Promise<void> {
  let samples = 0;
  const setting = {
    bases: openBases(job.fixtures, job.corpus),
    folder: job.folder,
    makesCases: true,
    sample(extension: string, bytes: Uint8Array) {
      // Far apart, so that they are of different kinds.
      if (samples >= job.samples || current % Math.ceil(job.cases / 4 / Math.max(1, job.samples)) !== 0) return;
      samples += 1;
      writeFileSync(join(job.folder, `sample-${job.first}-${current}${extension}`), bytes);
    },
  };
  let current = job.first;
  const target = await targetNamed(job.target).open(setting);
  const make = (): Uint8Array => target.make(randomOfCase(job.seed, job.target, current));
  const nameOf = () => join(job.faults, `${job.target}-${job.seed}-${current}.bin`);
  if (job.writeOnly) return writeFileSync(nameOf(), make());

  const progress = openSync(join(job.folder, 'progress'), 'w');
  const place = Buffer.alloc(8);
  const words: Record<string, number> = {};
  const known = new Set<string>();
  let raised = 0;
  for (const end = job.first + job.cases; current < end; current += 1) {
    place.writeDoubleLE(current);
    writeSync(progress, place, 0, 8, 0);
    const input = make();
    const before = peak();
    const { word, fault, seconds } = await checkCase(target, input);
    raised += peak() - before;
    words[word] = (words[word] ?? 0) + 1;
    const tooLarge = raised > MOST_MEBIBYTES;
    // The memory may be what many cases left behind, so the case is run alone next.
    if (tooLarge && job.cases > 1) break;
    const described = tooLarge ? `more than ${MOST_MEBIBYTES} MiB of memory` : fault;
    if (described === undefined) continue;
    if (!known.has(kindOf(described))) {
      known.add(kindOf(described));
      report({ target: job.target, case: current, fault: described, file: nameOf() });
      writeFileSync(nameOf(), make());
    }
    // Memory is not given back, and what is slow once is slow again.
    if (tooLarge || seconds > MOST_SECONDS || known.size >= MOST_FAULTS) {
      current += 1;
      break;
    }
  }
  closeSync(progress);
  report({ done: current - job.first, words, mebibytes: raised });
}

/** The same for the same fault: what it says without numbers and names, and where it was thrown. */
function kindOf(fault: string): string {
  const [first = ''] = fault.split('\n');
  const at = fault.split('\n').find((line) => /^\s+at /.test(line)) ?? '';
  return `${first.replace(/[\d"'].*/, '')} ${at}`;
}

const status = openSync('/proc/self/status', 'r');
const statusBytes = Buffer.alloc(4096);

/** In MiB. The maxRSS of Linux would begin with that of the process that started this one, which can hide a fault. */
function peak(): number {
  const text = statusBytes.toString('latin1', 0, readSync(status, statusBytes, 0, statusBytes.length, 0));
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1]) / 1024;
}

function report(line: FaultyCase | JobResult): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

await run(JSON.parse(process.argv[2] ?? '') as Job);
