/** What whole sessions find: one real server, files that it has signed, and the names of what differs from run to run. */

import { appendFile, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fixture, REPOSITORY, runCli, temporaryFolder } from '../programs/cli.ts';
import { useServer } from '../services/shared-server.ts';
import type { Scenery } from './sessions.ts';
import { openShell } from './shell.ts';

export async function setScenery(): Promise<Scenery & AsyncDisposable> {
  const folder = await temporaryFolder();
  const shell = openShell();
  const server = await useServer({ bits: 2048, tsa: true });
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
  const { CODESIGN_BASE_URL: address = '', CODESIGN_TIMESTAMP_URL: authority = '' } = server.env;
  return {
    files: { ...files, 'root.pem': server.roots },
    env: { ...server.env, HOME: join(folder.path, 'home') },
    places: [
      // The built program, and the source.
      ...['docs', 'src/docs'].map((name) => [join(REPOSITORY, name), '<docs>'] as const),
      [join(REPOSITORY, 'fixtures'), '<fixtures>'],
      [server.data, '<data>'],
      [folder.path, '<made>'],
      [address, '<service>'],
      [authority, '<authority>'],
      [new URL(address).host, '<host>'],
      [server.env.CODESIGN_ACCESS_SECRET ?? '', '<access secret>'],
      [server.env.CODESIGN_ACCESS_KEY ?? '', '<access key>'],
      [server.env.CODESIGN_CODE ?? '', '<code>'],
    ],
    requests: () => server.operations('sign').length,
    shell,
    async [Symbol.asyncDispose]() {
      await shell[Symbol.asyncDispose]();
      await server.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function mustSign(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const { code, stderr } = await runCli(['sign', ...args], { env });
  if (code !== 0) throw new Error(stderr);
}
