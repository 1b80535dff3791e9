/**
 * Whole sessions against one real server: commands, what they print where, exit codes, files. Each file in sessions/ is
 * script and transcript in one; a run must print the same text. To renew them: npx vitest run -u
 * test/system/cli/sessions/sessions.test.ts, and the same for sessions.long.test.ts, which runs the others, and the scripts
 * of a pipe on a terminal. A new one begins with what it shows, `in:` and `with:`, and its commands. Each file in cases/ has the
 * single cases of one command: what it rejects, what its options do, and what other programs say of its results.
 */

import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../../src/cli/command-table.ts';
import { runCli } from '../../../support/programs/cli.ts';
import { QUICK_SESSIONS, readSession, sessionPath, sessionsIn } from '../../../support/runs/session-files.ts';
import { setScenery } from '../../../support/runs/session-scenery.ts';
import { runScript } from '../../../support/runs/sessions.ts';
import { forAll } from '../../../support/set-up.ts';

const scenery = await forAll(setScenery());

it.for(QUICK_SESSIONS)('the session %s prints the recorded text', { timeout: 120_000 }, async (name) => {
  await expect(await runScript(readSession(name), scenery, runCli)).toMatchFileSnapshot(sessionPath(name));
});

describe('the scripts', () => {
  const stepsOf = (folder: string) =>
    Object.fromEntries(sessionsIn(folder).map((name) => [name.replace(`${folder}/`, ''), readSession(name).steps]));

  it('of the terminal are those of a pipe', () => {
    expect(stepsOf('terminal-80')).toEqual(stepsOf('pipe'));
  });

  it('have every command', () => {
    const commands = PROGRAM.commands.map(({ name }) => name);
    const told = Object.values(stepsOf('pipe')).flatMap((steps) => steps.map(({ line }) => line.split(' ')[2]));
    expect(commands.filter((name) => !told.includes(name))).toEqual([]);
  });
});
