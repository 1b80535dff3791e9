/** One batch of programs, each answered in its own way by a real service over TLS: what the command line makes of every answer. */

import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { join } from 'node:path';
import { listen } from '../network/listen.ts';
import { type CliRun, fixture, parseJson, runCli, snapshot, temporaryFolder } from '../programs/cli.ts';
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
  readonly operation?: 'sign' | 'report-sign';
  /** Signs a good file before each second one, one at a time: failures in a row would end the run. */
  readonly betweenSuccesses?: boolean;
  readonly args?: readonly string[];
  readonly isMeasured?: boolean;
}

export type AnswersRun = Awaited<ReturnType<typeof signAmongAnswers>>;

/** Signs `name.exe` for each name, in their order. A name that no answer has is answered well. */
export async function signAmongAnswers(options: AnswersOptions) {
  await using folder = await temporaryFolder();
  // No root vouches for it; its connections show who calls it anyway.
  const identity = createTlsAuthority().issue({ names: ['127.0.0.1'] });
  await using other = await listen(https.createServer(identity, (_request, response) => response.end()));
  const pki = makePki();
  const leaf = pki.leaf();
  const { byName, operation } = options;
  const service = await startMisbehavingService('by-file-name', {
    key: leaf.privateKey,
    byName,
    operation,
    elsewhere: `https://127.0.0.1:${other.port}`,
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
    const all = ['sign', '--json', ...args, ...names.map(pathOf)];
    const run: CliRun & Partial<MeasuredRun> = await (options.isMeasured ? runMeasured : runCli)(all, { env });
    await state[Symbol.asyncDispose]();
    const after = await snapshot(folder.path);
    const { files } = parseJson(run);
    const requests = service.requests();
    return {
      run,
      /** What the document of `--json` and the service say of a file. */
      of: (name: string) => {
        const file = files.find(({ path }) => path === pathOf(name));
        const isUntouched = before[pathOf(name)] === after[pathOf(name)];
        return { file, isUntouched, ...callsFor(`${name}.exe`, requests, file?.record) };
      },
      added: Object.keys(after).filter((path) => !(path in before)),
      /** TCP connections that the other server took, to which some answers redirect. */
      connectionsElsewhere: other.connections(),
    };
  } finally {
    await service.stop();
  }
}

function callsFor(file: string, requests: readonly ReceivedRequest[], record: string | undefined) {
  const bodies = requests.map(({ body }) => JSON.parse(body));
  return {
    signRequests: bodies.filter(({ extra }) => extra?.signing_filename === file).length,
    reports: record === undefined ? [] : bodies.filter(({ id }) => id === record),
  };
}
