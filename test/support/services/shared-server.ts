/** One server for all test files of a process. Each file has a client of it; a file that stops or damages a server starts its own. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { adminCommand } from '../../../server/test/support/commands.ts';
import { lazy } from '../../../src/bytes/reuse.ts';
import { mustHoldNoCredentials } from '../credential-watch.ts';
import {
  certificateVariables,
  operationsIn,
  readEnvironmentFile,
  type ServerOptions,
  startServer,
  type TestServer,
} from './server.ts';

export type SharedServer = Omit<TestServer, 'process'>;

const theServer = lazy(() => startServer({ bits: 2048, tsa: true }));
let clients = 0;

/** `log` and `operations` begin with this call. `stop` searches log and data for credentials; the server continues. */
export async function useServer({
  bits = 3072,
  tsa = false,
}: Pick<ServerOptions, 'bits' | 'tsa'> = {}): Promise<SharedServer> {
  const server = await theServer();
  clients += 1;
  const name = `client-${clients}`;
  const began = server.log().length;
  const log = () => server.log().slice(began);
  const { CODESIGN_TIMESTAMP_URL = '', ...env } = server.env;
  return {
    ...server,
    env: {
      ...env,
      ...(await addClient(server.data, name)),
      CODESIGN_BASE_URL: server.baseUrl,
      ...(tsa && { CODESIGN_TIMESTAMP_URL }),
      ...certificateVariables(server.data, bits),
    },
    log,
    operations: (operation: 'sign' | 'report-sign') =>
      operationsIn(log(), operation).filter(({ client = name }) => client === name),
    async stop() {
      await mustHoldNoCredentials({ 'the log of the server': log() }, [server.data]);
      return 0;
    },
  };
}

async function addClient(data: string, name: string): Promise<Record<string, string>> {
  const folder = join(data, name);
  await mkdir(folder);
  const path = join(folder, 'client.env');
  const { code, errors } = await adminCommand(['client', 'add', '--data', data, '--name', name, '--client-env', path]);
  if (code !== 0) throw new Error(errors);
  return readEnvironmentFile(path);
}
