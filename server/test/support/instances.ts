/** Several servers on one data folder and one database, each a process that may be killed and started again. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { SIGN_PATH } from '../../../src/service/messages.ts';
import { endWithThisProcess } from '../../../test/support/children.ts';
import { mustHoldNoCredentials } from '../../../test/support/credential-watch.ts';
import { listening } from '../../../test/support/services/server.ts';
import { SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import type { Credentials } from './clients.ts';
import { basic } from './in-process.ts';

export type Instance = ReturnType<typeof instance>;

export interface SignAnswer {
  readonly status: number;
  readonly body: { readonly code: number; readonly data: { readonly id: string; readonly signature: string } | null };
}

export interface InstanceOptions {
  readonly data: string;
  /** Settings of the configuration file. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The program that starts the server, with its arguments, where the data folder is on a disk that only it sees. */
  readonly through?: readonly string[];
  /** The data folder as this process sees it. */
  readonly seenAt?: string;
}

/** A server that is not started yet. The data must be made, and a client in it. */
export function instance({ data, config, through = [], seenAt = data }: InstanceOptions, name: string) {
  let child: ChildProcess | undefined;
  let agent = new Agent();
  let address = { port: 0, ca: Buffer.alloc(0) };
  let log = '';
  const isAlive = () => child !== undefined && child.exitCode === null && child.signalCode === null;
  const end = async (signal: NodeJS.Signals) => {
    child?.kill(signal);
    if (child !== undefined && isAlive()) await once(child, 'exit');
    agent.destroy();
  };
  const call = async (path: string, headers = {}, body?: unknown): Promise<SignAnswer> => {
    const method = body === undefined ? 'GET' : 'POST';
    const asked = request({ agent, host: '127.0.0.1', ...address, method, path, headers });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(asked, 'response');
    const text = Buffer.concat(await response.toArray()).toString();
    return { status: response.statusCode, body: JSON.parse(text) };
  };
  return {
    async start() {
      await writeFile(join(seenAt, `${name}.json`), JSON.stringify({ data, port: 0, ...config }));
      const start = [process.execPath, SERVER_PROGRAM, 'start', '--config', join(data, `${name}.json`)];
      const [command = '', ...args] = [...through, ...start];
      child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      endWithThisProcess(child);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
      const { port } = new URL(await listening(child, () => log));
      address = { port: Number(port), ca: await readFile(join(seenAt, 'service', 'tls', 'ca.pem')) };
      agent = new Agent({ keepAlive: true });
    },
    end,
    /** One call of sign; rejects if no answer comes. */
    sign: (body: unknown, by: Credentials) =>
      call(SIGN_PATH, { authorization: basic(by), 'content-type': 'application/json' }, body),
    /** GET of a path that needs no credentials. @returns the HTTP status; rejects if no answer comes */
    status: async (path: string) => (await call(path)).status,
    /** The address of the server after its start. */
    address: () => address,
    /** True while the process that was started last is running. */
    isAlive,
    async stop() {
      await end('SIGTERM');
      await mustHoldNoCredentials({ 'the log of the server': log }, [seenAt]);
      return child?.exitCode ?? null;
    },
  };
}
