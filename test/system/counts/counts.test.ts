/**
 * How much the program does, in counts that no machine changes: a limit is what was counted, and a little more. Lower it when
 * the program does less; `npm run bench -- floor` has the aims.
 */

import { spawnSync } from 'node:child_process';
import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCliProcess } from '../../support/programs/cli.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { makePrograms, startScene } from '../../support/runs/resume-scene.ts';

const WITHOUT_STRACE = spawnSync('strace', ['-V'], { stdio: 'ignore' }).error !== undefined;
const MISSING = 'needs strace: apt-get install strace';

/** How often threads wait and how memory is mapped depends on the machine. */
const NOT_COUNTED = ['futex', 'madvise', 'mmap', 'munmap', 'mprotect', 'brk', 'epoll_ctl', 'epoll_wait', 'epoll_pwait'];
const SCHEDULING = ['sched_yield', 'sched_getaffinity', 'restart_syscall'];
const SIGNALS = ['rt_sigprocmask', 'rt_sigaction', 'rt_sigreturn'];

describe.skipIf(WITHOUT_STRACE && process.env.CI === undefined)(`each further file of a batch (${MISSING})`, () => {
  // On a busy machine, fewer files share a commit of the journal, so a run may count more.
  it('takes few system calls, opens and flushes', { retry: 2 }, async () => {
    if (WITHOUT_STRACE) throw new Error(MISSING);
    const few = await countCalls(5);
    const many = await countCalls(25);
    const each = (...names: string[]) => (sumOf(many, names) - sumOf(few, names)) / 20;
    expect({ calls: each(...many.keys()), opens: each('open', 'openat'), flushes: each('fsync', 'fdatasync') }).toEqual(
      { calls: atMost(60), opens: atMost(2.5), flushes: atMost(3) },
    );
  });
});

/** By name, in a run that signs so many different programs in place. */
async function countCalls(files: number): Promise<ReadonlyMap<string, number>> {
  await using scene = await startScene('good', { plain: true });
  const programs = await makePrograms(scene.folder, files);
  const log = join(scene.folder, 'strace.log');
  const traced = `trace=!${[...NOT_COUNTED, ...SCHEDULING, ...SIGNALS].join(',')}`;
  const through = ['strace', '-f', '-c', '-U', 'calls,name', '-o', log, '-e', traced];
  const run = await runCliProcess(['sign', '-q', '-j', '16', '--no-timestamp', ...programs], {
    env: scene.env,
    through,
  });
  expect(run).toMatchObject({ code: 0 });
  const lines = (await readFile(log, 'utf8')).matchAll(/^ *(\d+) ([a-z]\w+)$/gm);
  return new Map(
    Array.from(lines, ([, calls, name = '']) => [name, Number(calls)] as const).filter(([name]) => name !== 'total'),
  );
}

const LARGE = 8_000_000;

it('a program of 8 MB is read once and written once, and the result is read once to check it', async () => {
  await using scene = await startScene('good', { plain: true });
  const sign = async (more: number) => {
    const [path = ''] = await makePrograms(scene.folder, 1);
    await appendFile(path, Buffer.alloc(more, 'content'));
    const { code, usage } = await runMeasured(['sign', '--no-timestamp', path], { env: scene.env });
    expect(code).toBe(0);
    return usage;
  };
  // The first run makes the journal.
  const { sources } = await sign(0);
  expect(sources, 'only what signing a program needs').toEqual({ files: atMost(12), bytes: atMost(870_000) });
  const small = await sign(0);
  const large = await sign(LARGE);
  expect({
    read: (large.readBytes - small.readBytes) / LARGE,
    written: (large.writtenBytes - small.writtenBytes) / LARGE,
  }).toEqual({ read: atMost(2.02), written: atMost(1.02) });
});

it.each([
  ['--version', 2, 4000],
  // Commander, the tables of commands, options and formats with their help, and the messages that they may print. A format
  // adds about 1 kB.
  ['sign --help', 5, 198_000],
])('little source is loaded for %s', async (line, files, bytes) => {
  const { usage } = await runMeasured(line.split(' '));
  expect(usage.sources).toEqual({ files: atMost(files), bytes: atMost(bytes) });
});

function sumOf(counts: ReadonlyMap<string, number>, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
}

function atMost(limit: number): unknown {
  return expect.toSatisfy((value: number) => value <= limit, `at most ${limit}`);
}
