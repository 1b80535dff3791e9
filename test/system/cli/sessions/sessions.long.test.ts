/** The sessions that sessions.test.ts leaves out, on a pipe, on a terminal, on GitHub, and one for each further kind of file. */

import { it } from 'vitest';
import { QUICK_SESSIONS, readSession, sessionPath, sessionsIn } from '../../../support/runs/session-files.ts';
import { setScenery } from '../../../support/runs/session-scenery.ts';
import { runScript } from '../../../support/runs/sessions.ts';
import { isInSample } from '../../../support/sample.ts';
import { forAll } from '../../../support/set-up.ts';

const scenery = await forAll(setScenery());

const all = ['pipe', 'github', 'terminal-40', 'terminal-80', 'formats'].flatMap(sessionsIn);
const names = all.filter((name) => !QUICK_SESSIONS.includes(name));
const numbered = names.map((name, index) => [name, index] as const);
it.concurrent.for(numbered)(
  'the session %s prints the recorded text',
  { timeout: 300_000 },
  async ([name, index], { expect, skip }) => {
    skip(!isInSample(index), 'not in the sample');
    const script = readSession(name);
    skip(script.hasKeyring && process.platform !== 'linux', 'only Linux has a keyring of its own for a test');
    await expect(await runScript(script, scenery)).toMatchFileSnapshot(sessionPath(name));
  },
);
