/** Installer files, cabinets, scripts, connection files, extensions, packages, catalogs and documents that were made to exhaust their readers: an answer, soon, in little memory. */

import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/programs/cli.ts';
import { isInSample } from '../../support/sample.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { LARGE_ARCHIVE_CASES } from './archive-cases.ts';
import { runBounded } from './bounds.ts';
import { byName } from './cases.ts';
import {
  CABINET_CASES,
  CATALOG_CASES,
  CONNECTION_CASES,
  type ContainerCase,
  EXTENSION_CASES,
  SCRIPT_CASES,
} from './containers/container-cases.ts';
import { DOCUMENT_CASES } from './containers/document-cases.ts';
import { INSTALLER_CASES } from './containers/installer-cases.ts';
import { NUGET_CASES, PACKAGE_CASES } from './containers/package-cases.ts';

const pki = makePki('Planned');
const CERTIFICATES = [pki.leaf(), pki.intermediate, pki.root].map(({ pem }) => pem).join('');
const SERVICE = ['--base-url', 'http://127.0.0.1:9', '--code', '1', '--no-journal', '--no-timestamp'];

async function expectAnswer(hostile: ContainerCase): Promise<void> {
  await using folder = await temporaryFolder('codesign-hostile-');
  const path = join(folder.path, hostile.name);
  await writeFile(path, hostile.make());
  if (hostile.size !== undefined) await truncate(path, hostile.size);
  const pem = join(folder.path, 'certificate.pem');
  await writeFile(pem, CERTIFICATES);
  const isSound = hostile.result === 'planned';

  const verified = await runBounded(['verify', '--json', path], [8], hostile.bounds);
  const { options = [], verified: code = isSound || hostile.onlyToSign ? undefined : hostile.result } = hostile;
  if (code !== undefined) expect(verified.stdout).toContain(`"code": "${code}"`);

  const planning = ['sign', '--dry-run', '--json', ...options, ...SERVICE, '--certificate', pem];
  const planned = await runBounded([...planning, path], isSound ? [0] : [6], hostile.bounds);
  expect(planned.stdout).toContain(isSound ? '"planned"' : `"code": "${hostile.result}"`);
}

describe.each([
  ['a large archive', LARGE_ARCHIVE_CASES],
  ['an installer file', INSTALLER_CASES],
  ['a cabinet', CABINET_CASES],
  ['a package', PACKAGE_CASES],
  ['a NuGet package', NUGET_CASES],
  ['a document', DOCUMENT_CASES],
  ['a script', SCRIPT_CASES],
  ['a connection file', CONNECTION_CASES],
  ['an extension', EXTENSION_CASES],
  ['a catalog', CATALOG_CASES],
] as const)('verify and sign answer on %s with', (_, cases) => {
  for (const [index, [what, hostile]] of byName(cases).entries()) {
    it.skipIf(!isInSample(index))(what, () => expectAnswer(hostile));
  }
});
