/** The suite against three bundled servers with one PostgreSQL, and by the command as an operator types it. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEnvironmentFile, startServer, type TestServer } from '../../test/support/services/server.ts';
import { SERVER_PROGRAM } from '../../test/support/services/server-data.ts';
import { folderForAll } from '../../test/support/set-up.ts';
import { adminCommand } from '../test/support/commands.ts';
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts';
import { resultText } from './command/print.ts';
import { openDeployment } from './deployment.ts';
import { runRules } from './run-rules.ts';
import { RULES } from './suite.ts';
import { optionsOf } from './support/server-options.ts';

const folder = folderForAll();
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
});

/** A second client, as an operator adds one. */
async function addClient(data: string, database: string) {
  const file = `${data}-second.env`;
  const added = await adminCommand(['client', 'add', '--data', data, '--database', database, '--client-env', file]);
  expect(added).toMatchObject({ code: 0 });
  const env = await readEnvironmentFile(file);
  return { accessKey: env.CODESIGN_ACCESS_KEY ?? '', accessSecret: env.CODESIGN_ACCESS_SECRET ?? '' };
}

test('with PostgreSQL three bundled servers keep every rule', async () => {
  const database = await postgres.newDatabase();
  const data = join(folder, 'data');
  await adminCommand(['init', '--data', data, '--database', database]);
  const certificate = (await adminCommand(['certificate', 'list', '--json', '--data', data, '--database', database]))
    .output;
  const [{ number, chainFile: chain }] = JSON.parse(certificate);
  const servers: TestServer[] = [];
  try {
    for (let index = 0; index < 3; index++) {
      servers.push(await startServer({ data, args: ['--database', database] }));
    }
    const [first] = servers;
    if (first === undefined) throw new Error('no server');
    const env: TestServer['env'] = { ...first.env, CODESIGN_CODE: number, CODESIGN_CERTIFICATE: chain };
    const counted = async () =>
      Number(
        await postgres.query(
          database,
          `select signatures from clients where access_key = '${env.CODESIGN_ACCESS_KEY}'`,
        ),
      );
    const options = await optionsOf({ ...first, env }, counted);
    const deployment = openDeployment({
      ...options,
      baseUrls: servers.map(({ baseUrl }) => new URL(baseUrl)),
      otherClient: await addClient(data, database),
    });
    const results = await runRules(deployment, RULES, true);
    deployment.close();
    const others = results.filter(({ verdict }) => verdict.kind === 'broken' || verdict.kind === 'not-asked');
    expect(others.map(resultText)).toEqual([]);
    expect(results.find(({ rule }) => rule.title.includes('another client'))?.verdict).toEqual({
      kind: 'choice',
      choice: 'HTTP 400, code 400, same as for an unknown id',
    });
    for (const server of servers) expect(server.operations('sign').length).toBeGreaterThan(20);
  } finally {
    for (const server of servers) await server.stop();
  }
});

describe('with SQLite', () => {
  const script = fileURLToPath(new URL('run.mjs', import.meta.url));
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ data: join(folder, 'sqlite'), bits: 2048 });
  });
  afterAll(() => server.stop());
  const count = () =>
    `"${process.execPath}" "${SERVER_PROGRAM}" quota list --json --data "${server.data}" | node -p "JSON.parse(fs.readFileSync(0))[0].signatures"`;
  const run = async (...args: readonly string[]) => {
    const env = { ...process.env, ...server.env };
    const ran = promisify(execFile)(process.execPath, [script, ...args], { env, maxBuffer: 16 * 1024 * 1024 });
    return await ran.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error,
    );
  };

  test('with --no-signatures nothing is signed and nothing broken', async () => {
    const { code, stdout } = await run('--no-signatures', '--json', '--count-command', count());
    const report = JSON.parse(stdout);
    expect({ code, ...report.summary }).toMatchObject({ code: 0, broken: 0, signatures: 0, signaturesAtMost: 0 });
    expect(server.operations('sign').filter(({ outcome }) => outcome !== 'refused')).toEqual([]);
    expect((await promisify(execFile)('sh', ['-c', count()])).stdout).toBe('0\n');
  });

  test('the command counts by the server’s own command', async () => {
    const { code, stdout, stderr } = await run('--count-command', count());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/^kept +8 rule /gm)?.length).toBeGreaterThan(9);
    expect(stdout).not.toContain(server.env.CODESIGN_ACCESS_SECRET);
    expect(stdout.match(/^not asked .*/gm)).toHaveLength(1);
  });
});
