/** Connections are few and used again: to the service, and to the timestamp authority. */

import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, parseJson, runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { startMisbehavingService } from '../../../support/services/misbehaving-service.ts';
import { environmentOf } from '../../../support/services/service-client.ts';
import { startTimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

const FILES = 20;
const CONCURRENCY = 4;

it(`${FILES} files, with reports and timestamps, take few connections`, async () => {
  await using folder = await temporaryFolder();
  const pki = makePki();
  const leaf = pki.leaf();
  const certificate = join(folder.path, 'chain.pem');
  await writeFile(certificate, leaf.pem + pki.intermediate.pem);
  const paths = Array.from({ length: FILES }, (_, index) => join(folder.path, `app-${index}.exe`));
  for (const path of paths) {
    await copyFile(fixture('pe/hello.exe'), path);
    await appendFile(path, path);
  }
  const service = await startMisbehavingService('good', { key: leaf.privateKey });
  const authority = await startTimestampAuthority();
  try {
    const env = environmentOf(service, certificate);
    const args = ['sign', '--json', '-j', `${CONCURRENCY}`, '-t', authority.urlOf('ok'), ...paths];
    const run = await runCli(args, { env });
    expect(parseJson(run).summary).toMatchObject({ signed: FILES, failed: 0 });
    expect(service.requests()).toHaveLength(2 * FILES);
    // As many reports as signatures; the authority is asked by two files at the same time. One that was idle for 2 s is not
    // used again, so on a busy machine there may be a few more.
    expect(service.connections()).toBeLessThanOrEqual(3 * CONCURRENCY);
    expect(authority.requests).toHaveLength(FILES);
    expect(authority.connections()).toBeLessThanOrEqual(4);
  } finally {
    await service.stop();
    await authority.stop();
  }
}, 60_000);
