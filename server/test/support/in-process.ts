/** The application inside the test's own process: real SoftHSM, real database, calls through inject instead of a socket. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InjectOptions } from 'fastify';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { mustHoldNoCredentials } from '../../../test/support/credential-watch.ts';
import { copyOfMadeOnce } from '../../../test/support/made-once.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { readConfig } from '../../src/config.ts';
import { buildServer, type ServerDependencies } from '../../src/http/app.ts';
import { dataFolder } from '../../src/setup/data-folder.ts';
import { openData } from '../../src/setup/open-data.ts';
import { ownTls } from '../../src/setup/tls.ts';
import { addClient, type Credentials } from './clients.ts';

/** The certificate in the data that `openApp` works on. */
export const NUMBER = 'rsa-2048';

interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly data: Readonly<Record<string, string>> | null;
}

export type TestApp = Awaited<ReturnType<typeof openApp>>;

/** @param replaced dependencies to put instead of the real ones: a clock, or a seam that must fail */
export async function openApp(replaced: (real: ServerDependencies) => Partial<ServerDependencies> = () => ({})) {
  const root = await mkdtemp(join(tmpdir(), 'codesign-app-'));
  await copyOfMadeOnce('data-with-tls', root, async (made) => {
    await copyData(made, 2048);
    await ownTls(dataFolder(made), [], new Date());
  });
  const data = await openData(readConfig({ data: root }, {}), process.env, 'use');
  let text = '';
  const write = (line: string) => {
    text += line;
  };
  const real: ServerDependencies = {
    store: data.store,
    keys: data.keys,
    tls: await ownTls(data.folder, [], new Date()),
    now: () => new Date(),
    ...{ sessions: data.sessions, threads: 4, waiting: 256, connections: 4096, proxy: [] },
    log: { level: 'info', stream: { write } },
  };
  const app = buildServer({ ...real, ...replaced(real) });
  const credentials = await addClient(data.store);

  /** One call with any headers and payload. */
  const call = async ({
    method = 'POST',
    path = SIGN_PATH,
    ...more
  }: Omit<InjectOptions, 'path'> & { path?: string }) => {
    const response = await app.inject({ method, url: path, ...more });
    const body: Envelope = response.json();
    return { status: response.statusCode, headers: response.headers, body };
  };
  const post = (path: string, body: unknown, by: Credentials) => {
    const headers = { authorization: basic(by), 'content-type': 'application/json' };
    return call({ path, headers, payload: JSON.stringify(body) });
  };
  const close = async () => {
    await app.close();
    await data.close();
    await mustHoldNoCredentials({ 'the log': text }, [root]);
    await rm(root, { recursive: true, force: true });
  };
  return {
    ...{ app, data, credentials, call, close },
    /** Parsed lines of the log so far. */
    log: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Record<string, unknown> => JSON.parse(line)),
    logText: () => text,
    sign: (body: unknown, by: Credentials = credentials) => post(SIGN_PATH, body, by),
    report: (body: unknown, by: Credentials = credentials) => post(REPORT_PATH, body, by),
    addClient: () => addClient(data.store),
    /** How many signatures are counted for a client. */
    async counted(by: Credentials = credentials) {
      return (await data.store.clients.findByAccessKey(by.accessKey))?.signatures ?? Number.NaN;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** The value of an Authorization header. */
export function basic({ accessKey, accessSecret }: Credentials): string {
  return `Basic ${Buffer.from(`${accessKey}:${accessSecret}`).toString('base64')}`;
}

/** A signing request that the contract accepts. */
export function goodRequest() {
  return { code: NUMBER, digest: Buffer.alloc(32, 7).toString('base64'), algorithm: 'SHA256', padding: 'PKCS1' };
}
