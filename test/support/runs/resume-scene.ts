/** A program, a service that can fail, and a separate journal, for tests of what `resume` finishes. */

import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '../network/listen.ts';
import { fixture, runCli, temporaryFolder } from '../programs/cli.ts';
import {
  type MisbehavingServiceOptions,
  type ServiceMode,
  startMisbehavingService,
} from '../services/misbehaving-service.ts';
import { environmentOf } from '../services/service-client.ts';
import { makePki } from '../signed-files/pki.ts';

const refusing = await listen(createServer((_request, answer) => answer.writeHead(404).end()).unref());

/** An address without an authority: it fails immediately, so that nothing is retried. */
export const NO_AUTHORITY = ['-t', `http://127.0.0.1:${refusing.port}/`];

export type Env = Readonly<Record<string, string>>;

export type Scene = Awaited<ReturnType<typeof startScene>>;

/** A service in `mode`, a program, and a journal of its own. */
export async function startScene(mode: ServiceMode, options: MisbehavingServiceOptions = {}) {
  const pki = makePki();
  const leaf = pki.leaf();
  const folder = await temporaryFolder();
  const service = await startMisbehavingService(mode, { key: leaf.privateKey, ...options });
  const certificate = join(folder.path, 'chain.pem');
  await writeFile(certificate, leaf.pem + pki.intermediate.pem);
  const path = join(folder.path, 'app.exe');
  await copyFile(fixture('pe/hello.exe'), path);
  const env = { CODESIGN_STATE_DIR: join(folder.path, 'state'), ...environmentOf(service, certificate) };
  return {
    folder: folder.path,
    path,
    env,
    service,
    sign: (...args: readonly string[]) => runCli(['sign', '--timeout', '2', ...args], { env }),
    resume: (args: readonly string[] = [], more: Env = {}) => resumeWith({ ...env, ...more }, ...args),
    async [Symbol.asyncDispose]() {
      await service.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** So many programs in the folder, no two of them alike. */
export async function makePrograms(folder: string, count: number): Promise<readonly string[]> {
  const paths = Array.from({ length: count }, (_, index) => join(folder, `app-${index}.exe`));
  for (const path of paths) {
    await copyFile(fixture('pe/hello.exe'), path);
    await appendFile(path, path);
  }
  return paths;
}

interface ResumedCall {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly error?: { readonly code: string };
}

export async function resumeWith(env: Env, ...args: readonly string[]) {
  const run = await runCli(['resume', '--json', '--timeout', '2', ...args], { env });
  const { calls = [] }: { readonly calls?: readonly ResumedCall[] } = run.stdout === '' ? {} : JSON.parse(run.stdout);
  return { ...run, calls };
}

export const reports = ({ service }: Pick<Scene, 'service'>): readonly unknown[] =>
  service
    .requests()
    .filter(({ path }) => path.endsWith('report-sign'))
    .map(({ body }) => JSON.parse(body).status);
