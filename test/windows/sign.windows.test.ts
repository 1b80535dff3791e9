import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { osslsigncodeVerify } from '../interop/verifiers.ts';
import { fixture, parseJson, runCli, temporaryFolder } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { runWindowsCli, windowsPath } from '../support/windows.ts';

let server: TestServer;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  server = await startServer();
  const files = ['CODESIGN_CA_FILE', 'CODESIGN_CERTIFICATE'];
  env = Object.fromEntries(
    Object.entries(server.env).map(([name, value]) => [name, files.includes(name) ? windowsPath(value) : value]),
  );
});
afterAll(async () => {
  await server.stop();
});

it('writes the same signed program on Windows as on Linux', async () => {
  await using folder = await temporaryFolder();
  const [there, here] = ['windows.exe', 'linux.exe'].map((name) => join(folder.path, name)) as [string, string];
  for (const copy of [there, here]) await copyFile(fixture('pe/hello.exe'), copy);
  const run = await runWindowsCli(['sign', '--no-timestamp', '--json', windowsPath(there)], { env });
  console.log(run);
  expect(parseJson(run).summary).toMatchObject({ signed: 1, failed: 0 });
  expect((await runCli(['sign', '--no-timestamp', here], { env: server.env })).code).toBe(0);
  expect(await readFile(there)).toEqual(await readFile(here));
  const root = join(server.data, 'service', 'certificates', 'ca.pem');
  const { accepted, output } = await osslsigncodeVerify(root, there);
  expect(accepted, output).toBe(true);
});
