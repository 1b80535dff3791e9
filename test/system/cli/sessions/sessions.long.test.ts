/** The sessions of sessions.test.ts in all other surroundings (terminals of all widths, CI=1, NO_COLOR=1, TERM=dumb), and one for each further kind of file. */

import { afterAll, beforeAll, describe, it } from 'vitest';
import { readSession, SURROUNDINGS_FOLDERS, sessionPath, sessionsIn } from '../../../support/runs/session-files.ts';
import { setScenery } from '../../../support/runs/session-scenery.ts';
import { runScript } from '../../../support/runs/sessions.ts';

let scenery: Awaited<ReturnType<typeof setScenery>>;
beforeAll(async () => {
  scenery = await setScenery();
}, 60_000);
afterAll(() => scenery?.[Symbol.asyncDispose]());

describe.concurrent('the session', () => {
  const names = [...SURROUNDINGS_FOLDERS.slice(1), 'formats'].flatMap(sessionsIn);
  it.for(names)('%s goes as it is written', { timeout: 300_000 }, async (name, { expect, skip }) => {
    const script = readSession(name);
    skip(script.hasKeyring && process.platform !== 'linux', 'only Linux has a keyring of its own for a test');
    await expect(await runScript(script, scenery)).toMatchFileSnapshot(sessionPath(name));
  });
});
