/** What a run reports next to its lines: colours, annotations, job summaries, the sum; and how each is kept harmless. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Io } from '../../../../src/cli/io.ts';
import { totalLine } from '../../../../src/cli/output/changes/outcomes.ts';
import { annotationLine, summaryMarkdown, writeJobSummary } from '../../../../src/cli/output/github.ts';
import {
  openProgress,
  type ProgressEvent,
  progressMode,
  progressState,
} from '../../../../src/cli/output/progress/progress.ts';
import { hasColour, isUnicode } from '../../../../src/cli/output/terminal.ts';
import { fitted, widthOf, wrapped } from '../../../../src/cli/output/text-layout.ts';
import { networkErrors } from '../../../../src/service/errors.ts';
import type { FileOutcome } from '../../../../src/signing/outcome.ts';
import { runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { startScene } from '../../../support/runs/resume-scene.ts';

const TERMINAL = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
const PIPE = new PassThrough();

it.each([
  ['a terminal', TERMINAL, {}, true],
  ['a pipe', PIPE, {}, false],
  ['a pipe, forced', PIPE, { FORCE_COLOR: '1' }, true],
  ['a terminal, forced not', TERMINAL, { FORCE_COLOR: '0' }, false],
  ['a terminal, unwanted', TERMINAL, { NO_COLOR: '1' }, false],
  ['a terminal, unwanted by an empty word', TERMINAL, { NO_COLOR: '' }, true],
  ['forced and unwanted', TERMINAL, { NO_COLOR: '1', FORCE_COLOR: '3' }, false],
  ['a dumb terminal', TERMINAL, { TERM: 'dumb' }, false],
  ['a build', TERMINAL, { CI: 'true' }, false],
  ['no build', TERMINAL, { CI: 'false' }, true],
])('colours of %s', (_what, stream, env, expected) => {
  expect(hasColour(stream, env)).toBe(expected);
});

it.each([
  ['linux', { LANG: 'de_DE.UTF-8' }, true],
  ['linux', { LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, false],
  ['linux', { LANG: 'C' }, false],
  ['linux', {}, false],
  ['linux', { LANG: 'C.utf8', TERM: 'dumb' }, false],
  ['win32', {}, false],
  ['win32', { WT_SESSION: '1' }, true],
  ['win32', { TERM_PROGRAM: 'vscode' }, true],
] as const)('symbols beyond ASCII on %s with %o: %s', (platform, env, expected) => {
  expect(isUnicode(env, platform)).toBe(expected);
});

it.each([
  ['plainly', 5, 'plai…'],
  ['漢字漢字', 7, '漢字漢…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['👩‍💻👩‍💻', 3, '👩‍💻…'],
  ['plain', 0, ''],
])('a line cut to fit: %s to %i columns', (text, columns, expected) => {
  expect(fitted(text, columns, '…')).toBe(expected);
  expect(widthOf(expected)).toBeLessThanOrEqual(columns);
});

it.each([
  ['Ａ', 2],
  ['☺\ufe0f', 2],
  ['\u202e', 0],
])('%j has %i columns', (text, columns) => {
  expect(widthOf(text)).toBe(columns);
});

it.each([
  ['failed   app.exe: it is no program', ['failed   app.exe: it', '         is no', '         program']],
  ['         hint: use another', ['         hint: use', '         another']],
  ['signed   a/long/path/app.exe  (SHA256)', ['signed   a/long/path/app.exe', '         (SHA256)']],
  ['2 files: 2 signed, 0 failed', ['2 files: 2 signed, 0', 'failed']],
  ['warning  漢字漢字 漢字漢', ['warning  漢字漢字', '         漢字漢']],
  ['', ['']],
])('a line wrapped at words: %j', (line, expected) => {
  expect(wrapped(line, 20)).toEqual(expected);
});

describe('how progress is shown', () => {
  const mode = (io: Partial<Io>, options = {}) =>
    progressMode({ stdout: TERMINAL, stderr: TERMINAL, env: {}, ...io } as Io, {
      quiet: false,
      json: false,
      verbose: false,
      ...options,
    });
  const narrow = Object.assign(new PassThrough(), { isTTY: true, columns: 19 });

  it.each([
    ['a terminal', {}, {}, 'live'],
    ['a build', { env: { CI: '1' } }, {}, 'none'],
    ['a build, wanted', { env: { CI: '1', CODESIGN_PROGRESS: 'live' } }, {}, 'live'],
    ['a dumb terminal', { env: { TERM: 'dumb', CODESIGN_PROGRESS: 'live' } }, {}, 'none'],
    ['a pipe', { stderr: PIPE }, {}, 'none'],
    ['a pipe, said more', { stderr: PIPE }, { verbose: true }, 'plain'],
    ['a pipe, wanted plain', { stderr: PIPE, env: { CODESIGN_PROGRESS: 'plain' } }, {}, 'plain'],
    ['a terminal, wanted plain', { env: { CODESIGN_PROGRESS: 'plain' } }, {}, 'plain'],
    ['a terminal, not wanted', { env: { CODESIGN_PROGRESS: 'none' } }, { verbose: true }, 'none'],
    ['a terminal, quiet', { env: { CODESIGN_PROGRESS: 'live' } }, { quiet: true }, 'none'],
    ['a document on the same terminal', {}, { json: true }, 'none'],
    ['a document in a pipe', { stdout: PIPE }, { json: true }, 'live'],
    ['hardly any columns', { stderr: narrow }, {}, 'none'],
  ])('%s', (_what, io, options, expected) => {
    expect(mode(io, options)).toBe(expected);
  });

  it('rejects an unknown word', () => {
    expect(() => mode({ env: { CODESIGN_PROGRESS: 'fancy' } })).toThrow(
      expect.objectContaining({ code: 'progress-unknown' }),
    );
  });

  it('prints a plain line every few seconds at most, and only if something has changed', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const stderr = new PassThrough().setEncoding('utf8');
    const io = { stdout: PIPE, stderr, env: { CODESIGN_PROGRESS: 'plain' } } as unknown as Io;
    using progress = openProgress(io, { quiet: false, json: false, verbose: false }, SIGNING);
    progress.event({ type: 'files-planned', paths: ['a.exe', 'b.exe'] });
    progress.event({ type: 'file-step', path: 'a/\x1b[2J.exe', step: 'asking-service' });
    vi.advanceTimersByTime(4900);
    expect(stderr.read()).toBeNull();
    vi.advanceTimersByTime(200);
    expect(stderr.read()).toBe('working  0 of 2 signed, 1 waiting for the service\n');
    vi.advanceTimersByTime(10_000);
    expect(stderr.read()).toBeNull();
  });
});

const SIGNING = { doing: 'signing', done: 'signed' };

describe('how far a run has come', () => {
  const path = 'dist/app.exe';
  const reading: ProgressEvent = { type: 'bytes-read', path, bytes: 47_250_000, size: 105_000_000 };

  it('reports one file by name', () => {
    const state = progressState(SIGNING, () => 0);
    state.event({ type: 'file-started', path });
    expect(state.parts()).toEqual(['signing app.exe']);
    state.event(reading);
    expect(state.parts()).toEqual(['app.exe 45 % of 105 MB']);
    state.event({ type: 'file-step', path, step: 'asking-service' });
    expect(state.parts()).toEqual(['app.exe waiting for the service']);
    state.event({ type: 'file-step', path, step: 'asking-authority' });
    expect(state.parts()).toEqual(['app.exe waiting for the timestamp authority']);
  });

  it('reports several files by their count', () => {
    const state = progressState(SIGNING, () => 0);
    state.event({ type: 'files-planned', paths: Array.from({ length: 20 }, String) });
    for (const word of ['signed', 'signed', 'signed', 'skipped', 'failed']) {
      state.event({ type: 'file-finished', path: word, word });
    }
    for (const other of ['b', 'c']) state.event({ type: 'file-step', path: other, step: 'asking-service' });
    state.event(reading);
    expect(state.parts()).toEqual([
      '3 of 20 signed',
      '1 skipped',
      '1 failed',
      '2 waiting for the service',
      'app.exe 45 % of 105 MB',
    ]);
  });

  it('does not mention reading that has stopped', () => {
    let now = 0;
    const state = progressState(SIGNING, () => now);
    state.event(reading);
    now = 2000;
    expect(state.parts()).toEqual(['signing']);
  });
});

describe('an annotation', () => {
  it('is one command, whatever its content', () => {
    expect(
      annotationLine({
        kind: 'error',
        title: 'a:b,c',
        file: '::set-output name=x::y,line=1\r\n.exe',
        message: '100 %0A\n::error::injected\r',
      }),
    ).toBe(
      '::error file=%3A\\x3aset-output name=x%3A%3Ay%2Cline=1\\r\\n.exe,title=a%3Ab%2Cc::100 %250A%0A:\\x3aerror::injected\\r',
    );
  });

  it('cannot be forged by a file name', async () => {
    await using folder = await temporaryFolder();
    const name = '::set-output name=a::b ##[add-mask]c';
    await writeFile(join(folder.path, name), 'text');
    for (const args of [['sign'], ['sign', '--json'], ['verify'], ['verify', '--json'], ['inspect'], ['remove']]) {
      const { stdout, stderr } = await runCli([...args, name], { cwd: folder.path, env: { GITHUB_ACTIONS: 'true' } });
      const lines = `${stdout}\n${stderr}`.split('\n').map((line) => line.trim());
      expect(lines.filter((line) => line.startsWith('::') && !/^::error [^:]*::/.test(line))).toEqual([]);
      expect(lines.filter((line) => line.includes('##['))).toEqual([]);
    }
  });
});

describe('a job summary', () => {
  const table = { heading: '1 file: 1 signed', columns: ['File', 'Outcome'] };

  it('has a row for each file, in which nothing is Markdown or HTML', () => {
    const text = summaryMarkdown({ ...table, rows: [['a|b`c`<img src=x>\n@all', '[x](https://example.com)']] }, 10_000);
    const [, row = ''] = text.split('| --- | --- |\n');
    expect(row.split('\n')[0]?.match(/\|/g)).toHaveLength(3);
    expect(text.replace(/&#\d+;/g, '')).not.toMatch(/[`<>@[\]]|https:/);
  });

  it('never exceeds the limit, and says what is missing', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => [`${'x'.repeat(300)}${index}`, 'signed']);
    const text = summaryMarkdown({ ...table, rows }, 1_000_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_000_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(900_000);
    expect(text).toMatch(/and \d+ more/);
    expect(summaryMarkdown({ ...table, rows }, 100)).toBe('');
  });

  it('is appended for a job, and a file that cannot be written is a warning', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'summary.md');
    const job = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: path };
    expect(writeJobSummary({ ...table, rows: [] }, { ...job, GITHUB_ACTIONS: undefined })).toBeUndefined();
    await writeFile(path, 'before\n');
    expect(writeJobSummary({ ...table, rows: [] }, job)).toBeUndefined();
    expect(await readFile(path, 'utf8')).toMatch(/^before\n### 1 file&#58; 1 signed\n/);

    await using stage = await startScene('good');
    await mkdir(join(stage.folder, 'folder'));
    const env = { ...stage.env, GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(stage.folder, 'folder') };
    const { code, stderr } = await runCli(['sign', '--no-timestamp', stage.path], { env });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning {2}the job summary could not be written .*\[job-summary-failed\]$/m);
  });
});

it('the totals of a run count files by outcome, and the signatures that were or may have been used', () => {
  const signed = (reused: boolean) => ({ status: 'signed', reused }) as FileOutcome;
  const error = networkErrors('sign-timed-out', { origin: '', detail: '' });
  const others = [{ status: 'skipped' }, { status: 'failed', path: 'a', error }] as FileOutcome[];
  const files = [...Array(16).fill(signed(false)), signed(true), signed(true), ...others];
  expect(totalLine(files, 'signed', { signatures: 16, requested: new Set(['a']), milliseconds: 12_345 })).toBe(
    '20 files: 18 signed (2 with a signature that was there already), 1 skipped, 1 failed; 16 signatures used, perhaps 1 more; 12.3 s',
  );
});

it.each([
  ['a file', ['sign', '--dry-run', '-c', '1', '--certificate']],
  ['the run', ['verify', '--roots']],
])('the causes of a failure of %s are reported with --verbose only', async (_what, args) => {
  await using folder = await temporaryFolder();
  const all = [...args, 'missing.pem', 'app.exe'];
  const brief = await runCli(all, { cwd: folder.path });
  expect(brief.stderr).not.toMatch(/Error:|^ +at /m);
  expect(brief.stderr).toContain('hint: ');
  const long = await runCli([...all, '--verbose'], { cwd: folder.path });
  expect(long.code).toBe(brief.code);
  expect(long.stderr).toContain('Error: ENOENT');
});
