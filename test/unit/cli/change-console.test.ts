/** The lines of a run of `sign`, whatever the order in which its files end. */

import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { changeConsole } from '../../../src/cli/output/changes/change-console.ts';
import type { LinesOptions } from '../../../src/cli/output/lines.ts';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';
import { fileErrors } from '../../../src/files/errors.ts';
import { networkErrors } from '../../../src/service/errors.ts';
import type { FailedOutcome, FileOutcome } from '../../../src/signing/outcome.ts';
import { timestampErrors } from '../../../src/timestamp/errors.ts';

/** `lines`: of both streams, in the order in which they were written. */
function openConsole(paths: readonly string[], options: LinesOptions = {}, hasJournal = true) {
  let text = '';
  const stream = () => new PassThrough().on('data', (chunk) => (text += chunk));
  const io = { stdout: stream(), stderr: stream(), env: {} } as unknown as Io;
  const console = changeConsole(io, options, 'signed', hasJournal ? 'codesign-remote resume' : undefined);
  const finish = (outcome: FileOutcome): void => console.event({ type: 'file-finished', outcome });
  console.event({ type: 'files-planned', paths });
  return { console, finish, lines: () => text.split('\n').slice(0, -1) };
}

/** The lines of a run in which the files end in the order of the input. */
function printed(outcomes: readonly FileOutcome[], options: LinesOptions = {}, hasJournal = true): readonly string[] {
  const { console, finish, lines } = openConsole(
    outcomes.map(({ path }) => path),
    options,
    hasJournal,
  );
  outcomes.forEach(finish);
  console.summary(outcomes);
  return lines();
}

const at = (path: string) => ({ path, format: 'pe', warnings: [] });
const skipped = (path: string): FileOutcome => ({
  ...{ ...at(path), output: path, status: 'skipped', reason: 'already-signed' },
});
const failed = (path: string, error: CodesignError, record: string | null = null): FailedOutcome => ({
  ...{ ...at(path), status: 'failed', error, record, kept: record !== null },
});
const missing = (path: string, suggestion = '') => failed(path, fileErrors('file-not-found', { suggestion }));
const HINT = '         hint: Check the path. A pattern with * must match at least one file.';

describe('the lines of a run', () => {
  it('come in the order of the input, as soon as the files before have theirs', () => {
    const { finish, lines } = openConsole(['a', 'b', 'c', 'd']);
    for (const path of ['c', 'b']) finish(skipped(path));
    expect(lines()).toEqual([]);
    finish(skipped('a'));
    expect(lines()).toEqual(['a', 'b', 'c'].map((path) => `skipped  ${path}  (already signed)`));
    finish(missing('d'));
    expect(lines()[3]).toMatch(/^failed {3}d: /);
  });

  it.each(['abandoned', Symbol.dispose] as const)('are printed when the run is ended by %s', (end) => {
    const { console, finish, lines } = openConsole(['a', 'b', 'c']);
    for (const path of ['c', 'b']) finish(skipped(path));
    console[end]();
    expect(lines().slice(0, 2)).toEqual(['skipped  b  (already signed)', 'skipped  c  (already signed)']);
  });

  it('tell of reports that failed at the end, in the order of the input', () => {
    const { console, finish, lines } = openConsole(['a', 'b']);
    const error = networkErrors('interrupted', { operation: 'report-sign', what: 'sent' });
    for (const path of ['b', 'a']) console.event({ type: 'report-failed', path, record: `record-${path}`, error });
    const outcomes = ['a', 'b'].map(skipped);
    outcomes.forEach(finish);
    console.summary(outcomes);
    expect(lines().slice(2, 4)).toEqual([
      'warning  a: the report did not arrive: the run was interrupted before report-sign was sent [interrupted] (record record-a)',
      'warning  b: the report did not arrive: the run was interrupted before report-sign was sent [interrupted]',
    ]);
  });
});

describe('equal failures', () => {
  const paths = Array.from({ length: 3000 }, (_, index) => `${index}.exe`);
  const error = timestampErrors('timestamp-failed', { authorities: 1, reasons: ': http://tsa.example.com/: HTTP 503' });

  it('are printed once with their hint, and one line for the others', () => {
    const [first, hint, others, total] = printed(paths.map((path) => missing(path)));
    expect([first, hint]).toEqual(['failed   0.exe: the file does not exist [file-not-found]', HINT]);
    const named = paths.slice(1, 11).join(', ');
    expect(others).toBe(`failed   ${named} and 2,989 more: the file does not exist [file-not-found]`);
    expect(total).toMatch(/^3000 files: 0 signed, 3000 failed;/);
  });

  it('are all named with --verbose', () => {
    const outcomes = paths.map((path) => missing(path));
    const lines = printed(outcomes, { verbose: true }).filter((line) => line.startsWith('failed'));
    expect(lines).toHaveLength(3000);
    expect(lines.at(-1)).toBe('failed   2999.exe: the same error as above [file-not-found]');
  });

  it('are not merged if their hints differ', () => {
    const lines = printed([missing('a.exe'), missing('b.exe', 'Did you mean c.exe? '), missing('d.exe')]);
    const first = ['a', 'b', 'd'].map((name) => `failed   ${name}.exe: the file does not exist [file-not-found]`);
    expect(lines).toEqual(expect.arrayContaining(first));
    expect(lines.join()).toContain('Did you mean c.exe?');
  });

  it('say that signatures were created', () => {
    const lines = printed(['a', 'b', 'c'].map((path) => failed(path, error, `record-${path}`)));
    const use = 'the next run, or codesign-remote resume,';
    expect(lines).toContain(
      `         a signature was created already: record record-a; it is kept: ${use} uses it and requests none`,
    );
    expect(lines).toContain(`         signatures were created already; they are kept: ${use} uses them`);
  });
});

it('prints equal warnings of many files once, and then names the other files', () => {
  const outcomes = ['a.pdf', 'b.pdf', 'c.pdf'].map((path) => ({ ...skipped(path), warnings: ['not for documents'] }));
  expect(printed(outcomes).filter((line) => line.startsWith('warning'))).toEqual([
    'warning  a.pdf: not for documents',
    'warning  b.pdf, c.pdf: not for documents',
  ]);
});

it.each([
  [false, ['waiting  app\\x1b.exe waits for process 4711 on build-3, which requests the same signature']],
  [true, []],
])('prints a wait for another process as progress: quiet %s', (quiet, expected) => {
  const { console, lines } = openConsole(['app.exe'], { quiet });
  console.event({ type: 'waiting', path: 'app\u001b.exe', whom: 'process 4711 on build-3' });
  expect(lines()).toEqual(expected);
});
