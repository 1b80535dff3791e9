/** Installer files, cabinets, scripts, connection files, extensions, packages, catalogs and documents that were made to exhaust their readers: an answer, soon, in little memory. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { fixture, temporaryFolder } from '../../support/programs/cli.ts';
import { runMeasured } from '../../support/programs/measured-cli.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { expectBounded, expectSane, measureTrivial } from './bounds.ts';
import {
  CABINET_CASES,
  CATALOG_CASES,
  CONNECTION_CASES,
  type ContainerCase,
  EXTENSION_CASES,
  SCRIPT_CASES,
  writeCase,
} from './containers/container-cases.ts';
import { DOCUMENT_CASES } from './containers/document-cases.ts';
import { INSTALLER_CASES } from './containers/installer-cases.ts';
import { NUGET_CASES, PACKAGE_CASES } from './containers/package-cases.ts';

let trivial: number;
beforeAll(async () => {
  trivial = await measureTrivial(fixture('golden/sha256-rsa2048.exe'));
});

const pki = makePki('Planned');
const CERTIFICATES = [pki.leaf(), pki.intermediate, pki.root].map(({ pem }) => pem).join('');
const SERVICE = ['--base-url', 'http://127.0.0.1:9', '--code', '1', '--no-journal', '--no-timestamp'];

async function expectAnswer(hostile: ContainerCase): Promise<void> {
  await using folder = await temporaryFolder('codesign-hostile-');
  const path = join(folder.path, hostile.name);
  await writeCase(path, hostile);
  const pem = join(folder.path, 'certificate.pem');
  await writeFile(pem, CERTIFICATES);
  const isSound = hostile.result === 'planned';

  const verified = await runMeasured(['verify', '--json', path]);
  expectSane(verified, [8]);
  const code = hostile.verified ?? hostile.result;
  if (!isSound && !hostile.onlyToSign) expect(verified.stdout).toContain(`"code": "${code}"`);
  expectBounded(verified, trivial, hostile.bounds);

  const { options = [] } = hostile;
  const planning = ['sign', '--dry-run', '--json', ...options, ...SERVICE, '--certificate', pem];
  const planned = await runMeasured([...planning, path]);
  expectSane(planned, isSound ? [0] : [6]);
  expect(planned.stdout).toContain(isSound ? '"planned"' : `"code": "${hostile.result}"`);
  expectBounded(planned, trivial, hostile.bounds);
}

const byName = (cases: readonly ContainerCase[]) => cases.map((each) => [each.what, each] as const);

describe('verify and sign answer on an installer file with', () => {
  it.each(byName(INSTALLER_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a cabinet with', () => {
  it.each(byName(CABINET_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a package with', () => {
  it.each(byName(PACKAGE_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a NuGet package with', () => {
  it.each(byName(NUGET_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a document with', () => {
  it.each(byName(DOCUMENT_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a script with', () => {
  it.each(byName(SCRIPT_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a connection file with', () => {
  it.each(byName(CONNECTION_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on an extension with', () => {
  it.each(byName(EXTENSION_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});

describe('verify and sign answer on a catalog with', () => {
  it.each(byName(CATALOG_CASES))('%s', (_, hostile) => expectAnswer(hostile));
});
