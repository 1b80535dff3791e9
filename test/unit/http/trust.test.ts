/** Which servers TLS trusts, and that nothing in the environment turns the check off. */

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import tls from 'node:tls';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadRoots, type TrustRoots, tlsChecksDisabled } from '../../../src/http/roots.ts';
import { type MisbehavingService, startMisbehavingService } from '../../support/services/misbehaving-service.ts';
import { openServiceClient, SIGN_REQUEST } from '../../support/services/service-client.ts';
import { createTlsAuthority } from '../../support/services/tls-authority.ts';
import { folderForAll } from '../../support/set-up.ts';

const folder = folderForAll();
let service: MisbehavingService;
let client = '';
beforeAll(async () => {
  service = await startMisbehavingService('good');
  client = await bundleClient();
});
afterAll(async () => {
  await service.stop();
});

/** A bundle of the client, since Node 20 runs no TypeScript. */
async function bundleClient(): Promise<string> {
  const outfile = join(folder, 'sign.mjs');
  const support = join(import.meta.dirname, '../../support/services/service-client.ts');
  const contents = `
    import { openServiceClient, SIGN_REQUEST } from ${JSON.stringify(support)};
    const { service } = await openServiceClient(JSON.parse(process.argv[2]));
    console.log(await service.sign(SIGN_REQUEST).then(() => 'signed', (error) => error.code));
    await service.close();`;
  const require = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    outfile,
    banner: { js: require },
  });
  return outfile;
}

/** Signs once in a process of its own with these variables next to the usual ones: gives `signed` or the error's code. */
function signInChild(environment: Record<string, string>, caFile?: string): Promise<string> {
  const options = JSON.stringify({ baseUrl: service.baseUrl, caFile });
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [client, options], { env: { ...process.env, ...environment } }, (error, stdout) =>
      error ? reject(error) : resolve(stdout.trim()),
    );
  });
}

describe('in a process with', () => {
  test('NODE_TLS_REJECT_UNAUTHORIZED=0, an untrusted server is still refused', async () => {
    const before = service.requests().length;
    expect(await signInChild({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toBe('tls-untrusted');
    expect(service.requests()).toHaveLength(before);
  });

  test('NODE_EXTRA_CA_CERTS, its roots are trusted', async () => {
    expect(await signInChild({ NODE_EXTRA_CA_CERTS: service.caFile })).toBe('signed');
  });

  test('NODE_EXTRA_CA_CERTS and another --ca-file, both are trusted', async () => {
    const other = join(folder, 'other.pem');
    await writeFile(other, (await createTlsAuthority('Other')).root);
    expect(await signInChild({}, other)).toBe('tls-untrusted');
    expect(await signInChild({ NODE_EXTRA_CA_CERTS: service.caFile }, other)).toBe('signed');
  });
});

test('a file of several roots is trusted for each of them', async () => {
  const other = (await createTlsAuthority('Other')).root;
  const file = join(folder, 'several.pem');
  await writeFile(file, `A comment\n${other}\r\nAnother\n${await readFile(service.caFile, 'utf8')}`);
  const opened = await openServiceClient({ baseUrl: service.baseUrl, caFile: file });
  await expect(opened.service.sign(SIGN_REQUEST)).resolves.toMatchObject({ id: expect.any(String) });
  await opened.service.close();
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

test('the variable that turns verification off is detected', () => {
  expect(tlsChecksDisabled({})).toBeUndefined();
  expect(tlsChecksDisabled({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toBeUndefined();
  expect(tlsChecksDisabled({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject({
    category: 'usage',
    code: 'tls-checks-disabled',
  });
});
