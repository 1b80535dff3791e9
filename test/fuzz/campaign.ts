/** Shares cases out to processes of their own, watches them, and gathers what they found. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { MOST_MEBIBYTES } from './check-case.ts';
import type { FaultyCase, Job, JobResult } from './child.ts';
import { listSamples } from './samples.ts';
import { TARGETS } from './targets.ts';

export interface CampaignOptions {
  readonly seed: number;
  readonly cases: number;
  readonly targets?: readonly string[];
  readonly corpus?: string | undefined;
  /** Results kept for other programs to check, of each kind of file. */
  readonly samples?: number;
  /** Seconds that one case may take by the clock before its process is killed. */
  readonly patience?: number;
}

export type Campaign = Awaited<ReturnType<typeof runCampaign>>;

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const PATIENCE_SECONDS = 20;
/** Enough cases that the start of a process does not matter, and few enough that both processes have work until the end. */
const CASES_OF_JOB = 6000;
/** Node's own heap, within what a process may take in all. */
const HEAP_MEBIBYTES = 160;

/** Faulty cases in its `faults` stay when it is disposed of. */
export async function runCampaign(options: CampaignOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-fuzz-'));
  const faults = join(folder, 'faults');
  await mkdir(faults);
  const program = await bundle(folder);
  const tally = createTally();
  const queue = jobsOf(options, folder, faults);
  const work = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      await mkdir(job.folder);
      const outcome = await runJob(program, job, options.patience ?? PATIENCE_SECONDS);
      tally.add(job, outcome);
      queue.unshift(...jobsAfter(job, outcome));
      if (job.samples === 0) await rm(job.folder, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  return {
    ...tally.result(),
    folder,
    sampled: await listSamples(folder),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/**
 * The child with all that it needs in one file. Addresses in it are as if it were the source. A source map would make each
 * start a third longer; the faulty case, run again by regressions.test.ts, shows where in the source.
 */
async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'child.mjs');
  const source = join(REPOSITORY, 'test', 'fuzz', 'child.ts');
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'error',
    external: ['keytar'],
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(source).href) },
    // CommonJS packages inside request Node's own modules with require, which an ES module does not have.
    banner: {
      js: `import{createRequire as _createRequire}from"node:module";const require=_createRequire(${JSON.stringify(pathToFileURL(source).href)});`,
    },
  });
  return outfile;
}

/** Each target gets its share, in jobs that are taken in turn, so that none is left for the end. */
function jobsOf({ seed, cases, targets, corpus, samples = 0 }: CampaignOptions, folder: string, faults: string): Job[] {
  const names = targets ?? Object.keys(TARGETS);
  const shares = names.map((name) => ({ name, share: TARGETS[name]?.share ?? 1 }));
  const whole = shares.reduce((sum, { share }) => sum + share, 0);
  const jobs = shares.flatMap(({ name, share }) => {
    const ofTarget = Math.ceil((cases * share) / whole);
    const count = Math.ceil(ofTarget / CASES_OF_JOB);
    return Array.from({ length: count }, (_, index) => {
      const first = index * CASES_OF_JOB;
      return {
        order: index / count,
        target: name,
        seed,
        first,
        cases: Math.min(CASES_OF_JOB, ofTarget - first),
        fixtures: join(REPOSITORY, 'fixtures'),
        corpus,
        folder: join(folder, `${name}-${first}`),
        faults,
        samples: Math.ceil(samples / count),
      };
    });
  });
  return jobs.sort((one, other) => one.order - other.order);
}

/** What is left of a job that ended for its memory: the case at which it did, alone, and those behind it. */
function jobsAfter(job: Job, { result }: JobOutcome): readonly Job[] {
  const done = result?.done ?? job.cases;
  if (job.cases === 1 || done >= job.cases || (result?.mebibytes ?? 0) <= MOST_MEBIBYTES) return [];
  const first = job.first + done;
  const rest = { ...job, first: first + 1, cases: job.cases - done - 1, folder: `${job.folder}-${first + 1}` };
  return [{ ...job, first, cases: 1, folder: `${job.folder}-${first}` }, ...(rest.cases > 0 ? [rest] : [])];
}

interface JobOutcome {
  readonly faults: readonly FaultyCase[];
  /** Undefined when the process did not come to its end. */
  readonly result: JobResult | undefined;
  readonly begun: number;
}

async function runJob(program: string, job: Job, patience: number): Promise<JobOutcome> {
  const child = start(program, job);
  const watch = watchProgress(child, join(job.folder, 'progress'), patience);
  const { lines, errors, end } = await outputOf(child);
  const { hung, last } = await watch.stop();
  const faults = lines.filter((line): line is FaultyCase => 'fault' in line);
  const result = lines.find((line): line is JobResult => 'done' in line);
  if (result !== undefined) return { faults, result, begun: result.done };
  const at = Number.isNaN(last) ? job.first : last;
  const fault = hung ? `no end within ${patience} s` : `the process ended with ${end}: ${errors.slice(0, 2000)}`;
  const file = join(job.faults, `${job.target}-${job.seed}-${at}.bin`);
  await outputOf(start(program, { ...job, first: at, writeOnly: true }));
  return { faults: [...faults, { target: job.target, case: at, fault, file }], result, begun: at - job.first + 1 };
}

function start(program: string, job: Job): ChildProcess {
  const limits = [`--max-old-space-size=${HEAP_MEBIBYTES}`, '--max-semi-space-size=8'];
  // glibc keeps an arena for each thread of the pool, which is no memory of the program's.
  const env = { ...process.env, MALLOC_ARENA_MAX: '2' };
  return spawn(process.execPath, [...limits, program, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'pipe'], env });
}

async function outputOf(child: ChildProcess) {
  let stdout = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const end = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as FaultyCase | JobResult);
  return { lines, errors, end };
}

/** Kills the process when it has been at one case for too long. */
function watchProgress(child: ChildProcess, path: string, patience: number) {
  let last = Number.NaN;
  let since = performance.now();
  let hung = false;
  const look = async (): Promise<void> => {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    const at = bytes.length === 8 ? bytes.readDoubleLE() : Number.NaN;
    if (!Object.is(at, last)) {
      last = at;
      since = performance.now();
    } else if (!Number.isNaN(at) && performance.now() - since > patience * 1000) {
      hung = true;
      child.kill('SIGKILL');
    }
  };
  const timer = setInterval(() => void look(), 250);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return { hung, last };
    },
  };
}

function createTally() {
  const faults: FaultyCase[] = [];
  /** Target → word → how many. */
  const words: Record<string, Record<string, number>> = {};
  /** Memory of the largest process of each target. */
  const mebibytes: Record<string, number> = {};
  let done = 0;
  return {
    add(job: Job, outcome: JobOutcome): void {
      const { target } = job;
      done += outcome.begun;
      faults.push(...outcome.faults);
      const { result } = outcome;
      if (result === undefined) return;
      const isOver = result.mebibytes > MOST_MEBIBYTES && job.cases > 1;
      const ofTarget = words[target] ?? {};
      words[target] = ofTarget;
      for (const [word, count] of Object.entries(result.words)) ofTarget[word] = (ofTarget[word] ?? 0) + count;
      mebibytes[target] = Math.max(mebibytes[target] ?? 0, isOver ? 0 : result.mebibytes);
    },
    result: () => ({ done, faults, words, mebibytes }),
  };
}

export function describeFaults({ faults }: Campaign, seed: number): string {
  const lines = faults.map(
    ({ target, case: number, fault, file }) =>
      `${target}, seed ${seed}, case ${number}: ${fault}\n  written to ${file}`,
  );
  const advice =
    'Copy a file to fixtures/fuzz under a name that begins with its target (pe--what-is-odd.bin), and npm test runs it again.';
  return faults.length === 0 ? '' : [...lines, advice].join('\n');
}
