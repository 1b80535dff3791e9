import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import tls from 'node:tls';
import { expect, test } from 'vitest';
import { loadRoots, type TrustRoots } from '../../../src/http/roots.ts';
import { runCliProcess } from '../../support/programs/cli.ts';
import { startMisbehavingService } from '../../support/services/misbehaving-service.ts';
import { ACCESS_KEY, ACCESS_SECRET, openServiceClient } from '../../support/services/service-client.ts';
import { createTlsAuthority } from '../../support/services/tls-authority.ts';
import { folderForAll, forAll } from '../../support/set-up.ts';

const folder = folderForAll();
const service = await forAll(startMisbehavingService('good'));

const exitCodeWith = async (env: Record<string, string>, caFile = '') => {
  const own = { CODESIGN_BASE_URL: service.baseUrl, CODESIGN_CA_FILE: caFile };
  const credentials = { CODESIGN_ACCESS_KEY: ACCESS_KEY, CODESIGN_ACCESS_SECRET: ACCESS_SECRET };
  return (await runCliProcess(['whoami', '--check'], { env: { ...own, ...credentials, ...env } })).code;
};

test('the roots of NODE_EXTRA_CA_CERTS are trusted, next to those of another --ca-file', async () => {
  const other = join(folder, 'other.pem');
  await writeFile(other, createTlsAuthority('Other').root);
  expect(await exitCodeWith({ NODE_EXTRA_CA_CERTS: service.caFile }, other)).toBe(0);
});

test.runIf(process.platform !== 'win32')('a file without end is rejected, and does not fill the memory', async () => {
  const opening = openServiceClient({ baseUrl: service.baseUrl, caFile: '/dev/zero' });
  await expect(opening).rejects.toMatchObject({ code: 'ca-file-unreadable', category: 'usage' });
});

test.each([
  ['ca-file-unreadable', undefined],
  ['ca-file-unusable', ''],
  ['ca-file-unusable', 'no certificate'],
  ['ca-file-unusable', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
])('%s: %j', async (code, content) => {
  const caFile = join(folder, `bad-${content?.length}.pem`);
  if (content !== undefined) await writeFile(caFile, content);
  await expect(loadRoots(caFile, {})).rejects.toMatchObject({ category: 'usage', code });
});

test("the user's roots are added to Node's own, not put in their place", async () => {
  const roots: TrustRoots = await loadRoots(service.caFile, {});
  const all = new Set(await roots.all());
  expect(roots.own).toHaveLength(1);
  for (const root of [...(roots.own ?? []), ...tls.rootCertificates]) expect(all.has(root)).toBe(true);
});
