/** One batch of programs, each answered in its own way by a real service over TLS: what the command line makes of every answer. */

import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type CliFileJson,
  type CliRun,
  fixture,
  parseJson,
  runCli,
  snapshot,
  temporaryFolder,
} from '../programs/cli.ts';
import { type MeasuredRun, runMeasured } from '../programs/measured-cli.ts';
import { makePki } from '../signed-files/pki.ts';
import type { Misbehaviour } from './answering.ts';
import { type ReceivedRequest, startMisbehavingService } from './misbehaving-service.ts';
import { environmentOf } from './service-client.ts';
import { createTlsAuthority } from './tls-authority.ts';

export interface AnswersOptions {
  /** Each names an answer: one of misbehaving-answers.ts, or of `byName`. */
  readonly names: readonly string[];
  readonly byName?: Readonly<Record<string, Misbehaviour>>;
  /** Which operation is answered so. Default: sign. */
  readonly operation?: 'sign' | 'report-sign';
  /** Signs a good file before each second one, one at a time: failures in a row would end the run. */
  readonly betweenSuccesses?: boolean;
  /** More arguments of `sign`. */
  readonly args?: readonly string[];
  /** As a process, whose memory is measured. */
  readonly isMeasured?: boolean;
}

export interface Answered {
  /** In the document of `--json`. */
  readonly file: CliFileJson | undefined;
  readonly signRequests: number;
  readonly reports: readonly { readonly id: string; readonly status: number }[];
  /** Whether the file is byte for byte what it was. */
  readonly isUntouched: boolean;
}

export interface AnswersRun {
  readonly run: CliRun & Partial<MeasuredRun>;
  readonly of: (name: string) => Answered;
  /** Files that were not there before. */
  readonly added: readonly string[];
  /** TCP connections that the other server took, to which some answers redirect. */
  readonly connectionsElsewhere: number;
}

/** Signs `name.exe` for each name, in their order. A name that no answer has is answered well. */
export async function signAmongAnswers(options: AnswersOptions): Promise<AnswersRun> {
  await using folder = await temporaryFolder();
  const other = await startOtherServer();
  const pki = makePki();
  const leaf = pki.leaf();
  const { byName, operation } = options;
  const service = await startMisbehavingService('by-file-name', {
    key: leaf.privateKey,
    byName,
    operation,
    elsewhere: other.origin,
  });
  try {
    const certificate = join(folder.path, 'chain.pem');
    await writeFile(certificate, leaf.pem + pki.intermediate.pem);
    const pathOf = (name: string) => join(folder.path, `${name}.exe`);
    const { betweenSuccesses = false } = options;
    const names = options.names.flatMap((name, index) =>
      betweenSuccesses && index % 2 === 0 ? [`sound-${index}`, name] : [name],
    );
    for (const name of names) {
      await copyFile(fixture('pe/hello.exe'), pathOf(name));
      // Each of its own: the same content would share one signature.
      await appendFile(pathOf(name), name);
    }
    const before = await snapshot(folder.path);
    const state = await temporaryFolder();
    const env = { CODESIGN_STATE_DIR: state.path, ...environmentOf(service, certificate) };
    const args = [...(betweenSuccesses ? ['--concurrency', '1'] : []), ...(options.args ?? [])];
    const run = await (options.isMeasured ? runMeasured : runCli)(['sign', '--json', ...args, ...names.map(pathOf)], {
      env,
    });
    await state[Symbol.asyncDispose]();
    const after = await snapshot(folder.path);
    const { files } = parseJson(run);
    const requests = service.requests();
    return {
      run,
      of: (name) => ({
        file: files.find(({ path }) => path === pathOf(name)),
        ...callsFor(`${name}.exe`, requests, files.find(({ path }) => path === pathOf(name))?.record),
        isUntouched: before[pathOf(name)] === after[pathOf(name)],
      }),
      added: Object.keys(after).filter((path) => !(path in before)),
      connectionsElsewhere: other.connections(),
    };
  } finally {
    await service.stop();
    await other.stop();
  }
}

function callsFor(file: string, requests: readonly ReceivedRequest[], record: string | undefined) {
  const bodies = requests.map(({ body }) => JSON.parse(body));
  return {
    signRequests: bodies.filter(({ extra }) => extra?.signing_filename === file).length,
    reports: record === undefined ? [] : bodies.filter(({ id }) => id === record),
  };
}

/** Not trusted by any root; its connections show who calls it anyway. */
async function startOtherServer() {
  const identity = await (await createTlsAuthority()).issue({ names: ['127.0.0.1'] });
  let connections = 0;
  const server = https.createServer(identity, (_request, response) => response.end());
  server.on('tlsClientError', () => undefined);
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://127.0.0.1:${port}`,
    connections: () => connections,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
