/** Whatever the service says: nothing of it acts on a terminal, in a build service, in a spreadsheet or on a page. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliRun, runCli } from '../../../support/programs/cli.ts';
import { NO_AUTHORITY, startScene } from '../../../support/runs/resume-scene.ts';
import type { MisbehaviourName } from '../../../support/services/misbehaving-answers.ts';

const MODES: readonly MisbehaviourName[] = [
  'hostile-record',
  'hostile-refusal',
  'hostile-status',
  'hostile-redirect',
  'hostile-record-of-nothing',
];

/** Nothing moves a cursor or turns a line around, and no line is a command that this program did not give. */
function expectHarmless(text: string): void {
  expect(text).not.toMatch(/[^\P{Cc}\n]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  expect(text).not.toMatch(/##\[|::set-output|::error::owned/);
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('::')) expect(line).toMatch(/^::(error|warning) (file=[^,]*,)?title=[^,:]*::/);
  }
}

describe.each(MODES)('%s', (mode) => {
  it('is harmless in text, in JSON, in the audit log, in annotations and in the job summary', async () => {
    await using stage = await startScene(mode);
    const [log, summary] = [join(stage.folder, 'audit.jsonl'), join(stage.folder, 'summary.md')];
    const github = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
    const sign = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CliRun> =>
      runCli(['sign', '--verbose', '--audit-log', log, ...args, stage.path], { env: { ...stage.env, ...more } });

    // In a state of its own each, so that none uses the signature of another.
    const runs = [
      await sign([]),
      await sign([], { ...github, CODESIGN_STATE_DIR: join(stage.folder, 'state-2') }),
      await sign(['--json'], { CODESIGN_STATE_DIR: join(stage.folder, 'state-3') }),
    ];
    for (const { stdout, stderr } of runs) for (const text of [stdout, stderr]) expectHarmless(text);

    const { files } = JSON.parse(runs[2]?.stdout ?? '');
    const record = expect.stringMatching(
      /^sha256:[0-9a-f]{64} \(the id is not stored: it has unprintable characters\)$/,
    );
    if (mode === 'hostile-record') expect(files).toMatchObject([{ status: 'signed', record }]);
    const calls = (await readFile(log, 'utf8')).trimEnd().split('\n');
    for (const call of calls) expectHarmless(call);
    const records = calls.map((call): unknown => JSON.parse(call).record);
    if (mode.startsWith('hostile-record')) expect(records).toContainEqual(record);
    expect(calls.length).toBeGreaterThanOrEqual(3);

    const page = await readFile(summary, 'utf8');
    expectHarmless(page);
    expect(page).not.toMatch(/<script|\]\(http|@team|\|[^\n]*\[x\]/);
  });

  it('is harmless in the history, as text and JSON, and in what resume shows', async () => {
    await using stage = await startScene(mode);
    await stage.sign(...NO_AUTHORITY, stage.path);
    const ask = (...args: readonly string[]) => runCli(args, { env: stage.env });
    const runs = [
      await ask('history'),
      await ask('history', '--json'),
      await ask('resume', '--dry-run'),
      await ask('resume', '--dry-run', '--json'),
    ];
    for (const { stdout, stderr } of runs) for (const text of [stdout, stderr]) expectHarmless(text);
    const records = JSON.parse(runs[1]?.stdout ?? '').calls.map(({ record }: { record: unknown }) => record);
    if (mode === 'hostile-record') expect(records.join()).toMatch(/sha256:[0-9a-f]{64} \(the id is not stored: /);
  });
});
