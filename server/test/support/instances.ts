/** Several servers on one data folder and one database, each a process that may be killed and started again. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { SIGN_PATH } from '../../../src/service/messages.ts';
import { mustHoldNoCredentials } from '../../../test/support/credential-watch.ts';
import { SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import { basic, type Credentials } from './in-process.ts';

export interface Instance {
  /** As no program can defend itself against. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** One call of sign. @returns the answer; rejects if no answer comes */
  sign(body: unknown, by: Pick<Credentials, 'accessKey' | 'accessSecret'>): Promise<SignAnswer>;
  /** GET of a path that needs no credentials. @returns the HTTP status; rejects if no answer comes */
  status(path: string): Promise<number>;
  /** What reaches it, once it is started. */
  address(): { readonly port: number; readonly ca: Buffer };
  /** Whether the process that was started last still runs. */
  isAlive(): boolean;
  stop(): Promise<number | null>;
}

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
export function instance({ data, config, through = [], seenAt = data }: InstanceOptions, name: string): Instance {
  let child: ChildProcess | undefined;
  let agent = new Agent();
  let port = 0;
  let ca: Buffer | undefined;
  const ended = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit');
  };
  const killChild = () => child?.kill('SIGKILL');
  process.once('exit', killChild);
  let log = '';
  return {
    async start() {
      await writeFile(join(seenAt, `${name}.json`), JSON.stringify({ data, port: 0, ...config }));
      const start = [process.execPath, SERVER_PROGRAM, 'start', '--config', join(data, `${name}.json`)];
      const [command = '', ...args] = [...through, ...start];
      child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        log += text;
      });
      port = await listening(child, () => log);
      ca = await readFile(join(seenAt, 'service', 'tls', 'ca.pem'));
      agent = new Agent({ keepAlive: true });
    },
    async kill() {
      killChild();
      await ended();
      agent.destroy();
    },
    async sign(body, by) {
      const call = request({
        ...{ agent, host: '127.0.0.1', port, method: 'POST', path: SIGN_PATH },
        ...(ca && { ca }),
        headers: { authorization: basic(by), 'content-type': 'application/json' },
      });
      call.end(JSON.stringify(body));
      const [response] = await once(call, 'response');
      const text = Buffer.concat(await response.toArray()).toString();
      return { status: response.statusCode, body: JSON.parse(text) };
    },
    async status(path) {
      const call = request({ ...{ agent, host: '127.0.0.1', port, path }, ...(ca && { ca }) });
      call.end();
      const [response] = await once(call, 'response');
      response.resume();
      return response.statusCode;
    },
    address() {
      if (ca === undefined) throw new Error('the server is not started');
      return { port, ca };
    },
    isAlive: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    async stop() {
      process.off('exit', killChild);
      agent.destroy();
      child?.kill('SIGTERM');
      await ended();
      await mustHoldNoCredentials({ 'the log of the server': log }, [seenAt]);
      return child?.exitCode ?? null;
    },
  };
}

async function listening(child: ChildProcess, log: () => string): Promise<number> {
  return await new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const port = /^listening on https:.*:(\d+)$/m.exec(output)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('close', (code) => reject(new Error(`the server ended with ${code}: ${log()}`)));
  });
}
