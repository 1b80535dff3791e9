/** First starts of the server's process: killed on the way, and several concurrently; and concurrent commands after it. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../test/support/services/server.ts';
import { copyData, runServerCommand, SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import { folderForEach } from '../../../test/support/set-up.ts';

const folder = folderForEach();
let data: string;
let clientEnv: string;
beforeEach(async () => {
  data = folder.at('data');
  clientEnv = folder.at('client.env');
});

/** Runs `start` until it listens or fails. */
async function startProcess(...args: readonly string[]) {
  const command = [SERVER_PROGRAM, 'start', '--data', data, '--port', '0', ...args];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.endsWith('\n')) child.kill('SIGTERM');
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

test('a killed first start leaves nothing in the way of the next one, which makes everything', async () => {
  const args = [SERVER_PROGRAM, 'start', '--data', data, '--port', '0', '--client-env', clientEnv];
  const isMade = () => existsSync(join(data, 'service'));
  const isHalfMade = async () =>
    (existsSync(data) ? await readdir(data) : []).some((name) => name.startsWith('.codesign-remote-server-setup-'));
  // On a busy machine, the first start may be over before it is seen.
  for (let isFirst = true; isFirst || isMade(); isFirst = false) {
    await rm(data, { recursive: true, force: true });
    await rm(clientEnv, { force: true });
    const killed = spawn(process.execPath, args, { stdio: 'ignore' });
    while (!(await isHalfMade()) && !isMade()) await new Promise((resolve) => setTimeout(resolve, 5));
    killed.kill('SIGKILL');
    await once(killed, 'exit');
  }
  expect(existsSync(clientEnv)).toBe(false);

  const { code, output } = await startProcess('--client-env', clientEnv);
  expect(code).toBe(0);
  const address = /^listening on (https:\/\/127\.0\.0\.1:\d+)\n$/.exec(output)?.[1];
  const environment = await readEnvironmentFile(clientEnv);
  expect(environment).toEqual({
    CODESIGN_BASE_URL: address,
    CODESIGN_CA_FILE: join(data, 'service', 'tls', 'ca.pem'),
    CODESIGN_CODE: '1',
    CODESIGN_CERTIFICATE: join(data, 'service', 'certificates', 'certificate-1.pem'),
    CODESIGN_ACCESS_KEY: expect.stringMatching(/^AK[0-9A-F]{20}$/),
    CODESIGN_ACCESS_SECRET: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/), // 256 bits
  });
  expect(await modeOf(clientEnv)).toBe('600');

  // A shell reads the file as cli.md says, and the certificate is one for code signing that its own authority issued.
  const shell = `set -eu; set -a; . '${clientEnv}'; openssl verify -CAfile '${join(data, 'service', 'certificates', 'ca.pem')}' -x509_strict "$CODESIGN_CERTIFICATE"; openssl x509 -in "$CODESIGN_CERTIFICATE" -noout -text`;
  const text = execFileSync('sh', ['-c', shell], { encoding: 'utf8' });
  expect(text).toContain(': OK\n');
  expect(text).toMatch(/Public-Key: \(3072 bit\)/);
  expect(text).toMatch(/Extended Key Usage: *\n +Code Signing\n/);

  for (const name of ['', 'service', 'service/tokens', 'service/tls', 'service/certificates']) {
    expect([name, await modeOf(join(data, name))]).toEqual([name, '700']);
  }
  for (const name of ['pin', 'database.sqlite', 'tls/server.pem', 'tls/ca-key.pem']) {
    expect([name, await modeOf(join(data, 'service', name))]).toEqual([name, '600']);
  }
}, 180_000);

test('several concurrent first starts each show credentials that work, and all serve', async () => {
  await copyData(data, 2048);
  const files = ['a', 'b'].map((name) => folder.at(`${name}.env`));
  const codes = await Promise.all(files.map(async (file) => (await startProcess('--client-env', file)).code));
  expect(codes).toEqual([0, 0]);
  const written = (await readdir(folder.path)).filter((name) => name.endsWith('.env'));
  const given = await Promise.all(written.map((name) => readEnvironmentFile(folder.at(name))));
  const clients = JSON.parse(await runServerCommand('client', 'list', '--json', '--data', data));
  expect(clients.map(({ accessKey }: { readonly accessKey: string }) => accessKey).sort()).toEqual(
    given.map(({ CODESIGN_ACCESS_KEY }) => CODESIGN_ACCESS_KEY).sort(),
  );
  expect(given.length).toBeGreaterThanOrEqual(1);
});

test('the built server prints its version', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(await runServerCommand('--version')).toBe(`${version}\n`);
});

test('concurrent commands all find the token', async () => {
  await copyData(data, 2048);
  const commands = [1, 2].map((number) =>
    runServerCommand('certificate', 'request', '--data', data, '--bits', '2048', '--number', `n${number}`),
  );
  for (const output of await Promise.all(commands)) expect(output).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----/);
});
