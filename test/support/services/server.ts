/** A real server for tests: the built program as a process of its own, over HTTPS, with throw-away data and keys in SoftHSM. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminCommand } from '../../../server/test/support/commands.ts';
import { endWithThisProcess } from '../children.ts';
import { mustHoldNoCredentials, watchCredentials } from '../credential-watch.ts';
import { startDemoAuthority } from '../demo-authority.ts';
import { copyData, type KeyBits, numberFor, SERVER_PROGRAM } from './server-data.ts';

export interface ServerOptions {
  /** A folder that stays after `stop`, so that a later start finds it; without it, one of its own that goes. */
  readonly data?: string;
  /** RSA key size of the certificate that `env` names; 3072 unless said. */
  readonly bits?: KeyBits;
  /** Whether a timestamp authority runs next to it; then `env` has CODESIGN_TIMESTAMP_URL. */
  readonly tsa?: boolean;
  /** More arguments of `start`. */
  readonly args?: readonly string[];
  /** Variables for the server's process, over this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface TestServer {
  /** `https://127.0.0.1:<port>` */
  readonly baseUrl: string;
  readonly caFile: string;
  /** PEM file with the root of its signatures and that of its timestamps. */
  readonly roots: string;
  /** What the server handed over: CODESIGN_BASE_URL, _CA_FILE, _CODE, _CERTIFICATE, _ACCESS_KEY, _ACCESS_SECRET (and _TIMESTAMP_URL). */
  readonly env: Readonly<Record<string, string>>;
  readonly data: string;
  readonly process: ChildProcess;
  /** Everything on standard error so far: JSON lines. */
  log(): string;
  /** The log's lines of one operation, parsed. */
  operations(operation: 'sign' | 'report-sign'): readonly Readonly<Record<string, unknown>>[];
  /** Adds a certificate next to the running server. @returns the path of its chain */
  addCertificate(number: string, bits: KeyBits, commonName?: string): Promise<string>;
  /** Ends it gracefully; throws when its log or its data hold the credentials. @returns its exit code */
  stop(): Promise<number | null>;
}

/** Starts the built server; resolves once it takes calls. Fails with the server's own words. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const bits = options.bits ?? 3072;
  const own = options.data === undefined ? await mkdtemp(join(tmpdir(), 'codesign-server-')) : undefined;
  const data = options.data ?? own ?? '';
  const cleanUp = async () => {
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  };
  try {
    const fresh = await access(join(data, 'service')).then(
      () => false,
      () => true,
    );
    if (fresh) await copyData(data, bits);
    return await spawnServer(data, bits, options, cleanUp);
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** The variables of an environment file as the server writes it; its credentials are watched from then on. */
export async function readEnvironmentFile(path: string): Promise<Record<string, string>> {
  const lines = (await readFile(path, 'utf8')).matchAll(/^([A-Z_]+)='(.*)'$/gm);
  const variables = Object.fromEntries(
    Array.from(lines, ([, name = '', value = '']) => [name, value.replaceAll("'\\''", "'")]),
  );
  const { CODESIGN_ACCESS_KEY: accessKey = '', CODESIGN_ACCESS_SECRET: accessSecret = '' } = variables;
  watchCredentials({ accessKey, accessSecret });
  return variables;
}

async function spawnServer(
  data: string,
  bits: KeyBits,
  options: ServerOptions,
  cleanUp: () => Promise<void>,
): Promise<TestServer> {
  const environmentFile = join(data, 'client.env');
  const args = ['start', '--data', data, '--port', '0', '--client-env', environmentFile, ...(options.args ?? [])];
  const child = spawn(process.execPath, [SERVER_PROGRAM, ...args], {
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithThisProcess(child);
  const ended = once(child, 'exit');
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });

  const [address, authority] = await Promise.all([
    listening(child, () => log),
    options.tsa ? startDemoAuthority() : undefined,
  ]);
  const roots = join(data, 'roots.pem');
  await appendFile(roots, await readFile(join(data, 'service', 'certificates', 'ca.pem')));
  if (authority !== undefined) await appendFile(roots, authority.rootPem);
  const handedOver = await readEnvironmentFile(environmentFile);
  const env: Record<string, string> = {
    ...handedOver,
    CODESIGN_BASE_URL: address, // a later start with the same data has another port
    ...(authority && { CODESIGN_TIMESTAMP_URL: authority.url }),
    ...certificateVariables(data, bits),
  };
  return {
    baseUrl: address,
    caFile: env.CODESIGN_CA_FILE ?? '',
    roots,
    env,
    data,
    process: child,
    log: () => log,
    operations: (operation) => operationsIn(log, operation),
    async addCertificate(added, addedBits, commonName = 'Code Signing') {
      const more = ['--number', added, '--bits', `${addedBits}`, '--common-name', commonName];
      const { code, output, errors } = await adminCommand(['certificate', 'add', '--data', data, ...more]);
      if (code !== 0) throw new Error(errors);
      return output.trimEnd();
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      await authority?.stop();
      try {
        await mustHoldNoCredentials({ 'the log of the server': log }, [data]);
      } finally {
        await cleanUp();
      }
      return code as number | null;
    },
  };
}

/** The variables that name the certificate with this key size. */
export function certificateVariables(data: string, bits: KeyBits): Readonly<Record<string, string>> {
  const number = numberFor(bits);
  const CODESIGN_CERTIFICATE = join(data, 'service', 'certificates', `certificate-${number}.pem`);
  return { CODESIGN_CODE: number, CODESIGN_CERTIFICATE };
}

export function operationsIn(log: string, operation: string): readonly Readonly<Record<string, unknown>>[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Record<string, unknown> => JSON.parse(line))
    .filter((line) => line.operation === operation);
}

async function listening(child: ChildProcess, log: () => string): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const address = /^listening on (https:\S+)$/m.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('close', (code) => reject(new Error(`the server ended with ${code}: ${log()}`)));
    child.once('error', reject);
  });
}
