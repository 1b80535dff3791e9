/** A real server for tests: the built program as a process of its own, over HTTPS, with throw-away data and keys in SoftHSM. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminCommand } from '../../../server/test/support/commands.ts';
import { endWithThisProcess } from '../children.ts';
import { mustHoldNoCredentials, watchCredentials } from '../credential-watch.ts';
import { REPOSITORY } from '../programs/cli.ts';
import { copyData, type KeyBits, numberFor, SERVER_PROGRAM } from './server-data.ts';

export interface ServerOptions {
  /** A folder that stays after `stop`, so that a later start finds it; without it, one of its own that goes. */
  readonly data?: string;
  /** RSA key size of the certificate that `env` names; 3072 unless said. */
  readonly bits?: KeyBits;
  /** Whether a timestamp authority runs next to it; then `env` has CODESIGN_TIMESTAMP_URL. */
  readonly tsa?: boolean;
  readonly args?: readonly string[];
  /** Variables for the server's process, over this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** Starts the built server; resolves once it takes calls. Fails with the server's own words. */
export async function startServer(options: ServerOptions = {}) {
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

async function spawnServer(data: string, bits: KeyBits, options: ServerOptions, cleanUp: () => Promise<void>) {
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
    options.tsa ? startAuthority() : undefined,
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
    /** PEM file with the root of its signatures and that of its timestamps. */
    roots,
    env: env as Readonly<Record<string, string>>,
    data,
    process: child,
    /** Everything on standard error so far: JSON lines. */
    log: () => log,
    operations: (operation: 'sign' | 'report-sign') => operationsIn(log, operation),
    /** Adds a certificate next to the running server. @returns the path of its chain */
    async addCertificate(added: string, addedBits: KeyBits, commonName = 'Code Signing') {
      const more = ['--number', added, '--bits', `${addedBits}`, '--common-name', commonName];
      const { code, output, errors } = await adminCommand(['certificate', 'add', '--data', data, ...more]);
      if (code !== 0) throw new Error(errors);
      return output.trimEnd();
    },
    /** Ends it gracefully; throws when its log or its data hold the credentials. @returns its exit code */
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

/** The demonstration's timestamp authority as a process of its own. */
async function startAuthority() {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-demo-tsa-'));
  const root = join(folder, 'root.pem');
  const script = join(REPOSITORY, 'server/demo/tsa.mjs');
  const child = spawn(process.execPath, [script, '--port', '0', '--root', root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThisProcess(child);
  const ended = once(child, 'exit');
  return {
    url: await listening(child, () => '', /^timestamps at (\S+)$/m),
    rootPem: await readFile(root, 'utf8'),
    async stop() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
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

/** Resolves with the address that the server prints. */
export async function listening(
  child: ChildProcess,
  log: () => string,
  line = /^listening on (https:\S+)$/m,
): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const address = line.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('close', (code) => reject(new Error(`the server ended with ${code}: ${log()}`)));
    child.once('error', reject);
  });
}
