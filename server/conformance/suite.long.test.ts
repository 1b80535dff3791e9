/** The suite against three bundled servers with one PostgreSQL, by the command as an operator types it. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readEnvironmentFile, startServer, type TestServer } from '../../test/support/services/server.ts';
import { SERVER_PROGRAM } from '../../test/support/services/server-data.ts';
import { folderForAll } from '../../test/support/set-up.ts';
import { adminCommand } from '../test/support/commands.ts';
import { usePostgres } from '../test/support/postgres.ts';

const SCRIPT = fileURLToPath(new URL('run.mjs', import.meta.url));
const folder = folderForAll();

test('three bundled servers with one PostgreSQL keep every rule, and the command counts by their own command', async () => {
  const data = join(folder, 'data');
  const database = await (await usePostgres()).newDatabase();
  const admin = async (...args: readonly string[]) => {
    const { code, output } = await adminCommand([...args, '--data', data, '--database', database]);
    expect(code).toBe(0);
    return output;
  };
  await admin('init');
  const [{ number, chainFile }] = JSON.parse(await admin('certificate', 'list', '--json'));
  const servers: TestServer[] = [];
  try {
    for (let index = 0; index < 3; index++) servers.push(await startServer({ data, args: ['--database', database] }));
    await admin('client', 'add', '--client-env', join(folder, 'second.env'));
    const other = await readEnvironmentFile(join(folder, 'second.env'));
    const env = {
      ...process.env,
      ...servers[0]?.env,
      CODESIGN_CODE: number,
      CODESIGN_CERTIFICATE: chainFile,
      CODESIGN_CONFORMANCE_OTHER_ACCESS_KEY: other.CODESIGN_ACCESS_KEY,
      CODESIGN_CONFORMANCE_OTHER_ACCESS_SECRET: other.CODESIGN_ACCESS_SECRET,
    };
    const counts = `"${process.execPath}" "${SERVER_PROGRAM}" quota list --json --data "${data}" --database "${database}"`;
    const count = `${counts} | node -p "JSON.parse(fs.readFileSync(0))[0].signatures"`;
    const args = [...servers.flatMap(({ baseUrl }) => ['--base-url', baseUrl]), '--json', '--count-command', count];
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, ...args], { env, maxBuffer: 2 ** 24 });
    expect(JSON.parse(stdout).summary).toMatchObject({ broken: 0, notAsked: 0 });
    expect(stdout).not.toContain(other.CODESIGN_ACCESS_SECRET);
    for (const server of servers) expect(server.operations('sign').length).toBeGreaterThan(20);
  } finally {
    for (const server of servers) await server.stop();
  }
});
