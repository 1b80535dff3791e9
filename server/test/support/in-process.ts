/** The application inside the test's own process: real SoftHSM, real database, calls through inject instead of a socket. */

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { mustHoldNoCredentials, watchCredentials } from '../../../test/support/credential-watch.ts';
import { copyData } from '../../../test/support/services/server-data.ts';
import { readConfig } from '../../src/config.ts';
import { type App, buildServer, type ServerDependencies } from '../../src/http/app.ts';
import { digestOfSecret } from '../../src/http/auth.ts';
import { UNRESTRICTED } from '../../src/setup/clients.ts';
import { type OpenData, openData } from '../../src/setup/open-data.ts';
import { ownTls } from '../../src/setup/tls.ts';

/** The certificate in the data that `openApp` works on. */
export const NUMBER = 'rsa-2048';

export interface Credentials {
  readonly accessKey: string;
  readonly accessSecret: string;
  readonly clientId: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: {
    readonly code: number;
    readonly message: string;
    readonly data: Readonly<Record<string, string>> | null;
  };
}

export interface TestApp extends AsyncDisposable {
  readonly app: App;
  readonly data: OpenData;
  readonly credentials: Credentials;
  /** Parsed lines of the log so far. */
  log(): readonly Readonly<Record<string, unknown>>[];
  logText(): string;
  sign(body: unknown, credentials?: Credentials): Promise<Answer>;
  report(body: unknown, credentials?: Credentials): Promise<Answer>;
  /** One call with any headers and payload. */
  call(request: CallOptions): Promise<Answer>;
  addClient(accessSecret?: string): Promise<Credentials>;
  /** How many signatures are counted for a client. */
  counted(credentials?: Credentials): Promise<number>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PATCH';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string | Buffer;
}

/** @param replaced dependencies to put instead of the real ones: a clock, or a seam that must fail */
export async function openApp(
  replaced: (real: ServerDependencies) => Partial<ServerDependencies> = () => ({}),
): Promise<TestApp> {
  const root = await mkdtemp(join(tmpdir(), 'codesign-app-'));
  await copyData(root, 2048);
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
  const addClient = (accessSecret?: string) => newClient(data, accessSecret);
  const credentials = await addClient();

  const call = async ({ method = 'POST', path = SIGN_PATH, headers, payload }: CallOptions): Promise<Answer> => {
    const response = await app.inject({
      method,
      url: path,
      headers: { ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    const body = response.body === '' ? undefined : response.json();
    return { status: response.statusCode, headers: response.headers, body };
  };
  const post = (path: string, body: unknown, by: Credentials) =>
    call({
      path,
      headers: { authorization: basic(by), 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });

  const close = async () => {
    await app.close();
    await data.close();
    await mustHoldNoCredentials({ 'the log': text }, [root]);
    await rm(root, { recursive: true, force: true });
  };
  return {
    app,
    data,
    credentials,
    log: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Record<string, unknown> => JSON.parse(line)),
    logText: () => text,
    sign: (body, by = credentials) => post(SIGN_PATH, body, by),
    report: (body, by = credentials) => post(REPORT_PATH, body, by),
    call,
    addClient,
    async counted(by = credentials) {
      return (await data.store.clients.findByAccessKey(by.accessKey))?.signatures ?? Number.NaN;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The value of an Authorization header. */
export function basic({ accessKey, accessSecret }: Pick<Credentials, 'accessKey' | 'accessSecret'>): string {
  return `Basic ${Buffer.from(`${accessKey}:${accessSecret}`).toString('base64')}`;
}

/** A signing request that the contract accepts. */
export function goodRequest() {
  return {
    code: NUMBER,
    digest: Buffer.alloc(32, 7).toString('base64'),
    algorithm: 'SHA256',
    padding: 'PKCS1',
  };
}

async function newClient({ store }: OpenData, accessSecret = `secret-${randomUUID()}`): Promise<Credentials> {
  const id = randomUUID();
  const accessKey = `AK-${id}`;
  watchCredentials({ accessKey, accessSecret });
  const secretDigest = digestOfSecret(Buffer.from(accessSecret));
  await store.clients.add({ ...UNRESTRICTED, id, accessKey, secretDigest }, new Date());
  return { accessKey, accessSecret, clientId: id };
}
