/**
 * Whole sessions against one real server: commands, what they print where, exit codes, files. Each file in sessions/ is
 * script and transcript in one; what a run makes of it must be the same text. To renew them: npx vitest run
 * test/cli/sessions.test.ts -u. A new one begins with what it shows, `in:` and `with:`, and its commands.
 */

import { readdirSync } from 'node:fs';
import { appendFile, copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { fixture, runCli, temporaryFolder } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { readScriptFile, runScript, type Scenery } from '../support/sessions.ts';

const FOLDER = fileURLToPath(new URL('sessions', import.meta.url));

let server: TestServer;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let scenery: Scenery;

beforeAll(async () => {
  folder = await temporaryFolder();
  server = await startServer({ bits: 2048, tsa: true });
  const files = {
    'signed.exe': join(folder.path, 'signed.exe'),
    'signed.jar': join(folder.path, 'signed.jar'),
    'broken.exe': join(folder.path, 'broken.exe'),
    'without.exe': join(folder.path, 'without.exe'),
  };
  await copyFile(fixture('pe/hello.exe'), files['signed.exe']);
  await copyFile(fixture('jar/plain.jar'), files['signed.jar']);
  await copyFile(fixture('pe/hello.exe'), files['without.exe']);
  const env = { ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
  await mustSign([files['signed.exe'], files['signed.jar'], '-d', 'An Application'], env);
  await mustSign(['--no-timestamp', files['without.exe']], env);
  await copyFile(files['signed.exe'], files['broken.exe']);
  await appendFile(files['broken.exe'], 'more');
  await mkdir(join(folder.path, 'home'));
  const { CODESIGN_CERTIFICATE: chain = '', CODESIGN_BASE_URL: address = '' } = server.env;
  const root = join(dirname(chain), 'ca.pem');
  scenery = {
    files: { ...files, 'root.pem': root },
    env: { ...server.env, HOME: join(folder.path, 'home') },
    places: [
      [server.data, '<data>'],
      [folder.path, '<made>'],
      [address, '<service>'],
      [server.env.CODESIGN_ACCESS_KEY ?? '', '<access key>'],
      [server.env.CODESIGN_CODE ?? '', '<code>'],
    ],
  };
}, 60_000);

afterAll(async () => {
  await server.stop();
  await folder[Symbol.asyncDispose]();
});

async function mustSign(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const { code, stderr } = await runCli(['sign', ...args], { env });
  if (code !== 0) throw new Error(stderr);
}

describe.concurrent('the session', () => {
  it.for(readdirSync(FOLDER).sort())('%s goes as it is written', { timeout: 120_000 }, async (name, { expect }) => {
    const path = join(FOLDER, name);
    await expect(await runScript(await readScriptFile(path), scenery)).toMatchFileSnapshot(path);
  });
});
