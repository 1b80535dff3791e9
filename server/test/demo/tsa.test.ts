/** The demonstration's timestamp authority, as openssl sees it. */

import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoAuthority, startDemoAuthority } from '../../../test/support/demo-authority.ts';

let authority: DemoAuthority;
let folder: string;
beforeAll(async () => {
  [authority, folder] = await Promise.all([startDemoAuthority(), mkdtemp(join(tmpdir(), 'codesign-demo-tsa-test-'))]);
  await writeFile(at('root.pem'), authority.rootPem);
  await writeFile(at('data'), 'some data');
});
afterAll(async () => {
  await authority?.stop();
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string) => join(folder, name);
const openssl = (...args: readonly string[]) => execFileSync('openssl', ['ts', ...args], { stdio: 'pipe' }).toString();

async function ask(body: Uint8Array): Promise<string> {
  const headers = { 'content-type': 'application/timestamp-query' };
  const answer = await fetch(authority.url, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/timestamp-reply');
  await writeFile(at('reply'), new Uint8Array(await answer.arrayBuffer()));
  return openssl('-reply', '-in', at('reply'), '-text');
}

async function askFor(digest: string): Promise<string> {
  openssl('-query', '-data', at('data'), `-${digest}`, '-cert', '-out', at('query'));
  return await ask(await readFile(at('query')));
}

test.each(['sha256', 'sha384', 'sha512'])('stamps an imprint of %s under the root that it wrote', async (digest) => {
  expect(await askFor(digest)).toContain('Status: Granted.');
  const verified = openssl('-verify', '-in', at('reply'), '-queryfile', at('query'), '-CAfile', at('root.pem'));
  expect(verified).toContain('Verification: OK');
});

test('never uses a serial number twice', async () => {
  const serials = new Set<string | undefined>();
  for (let index = 0; index < 3; index++) serials.add(/Serial number: (\S+)/.exec(await askFor('sha256'))?.[1]);
  expect(serials.size).toBe(3);
  expect(serials).not.toContain(undefined);
});

test('rejects SHA-1, and what is not a request', async () => {
  expect(await askFor('sha1')).toContain('Status: Rejected.');
  for (const body of ['', 'nonsense', '0\x03\x02\x01\x01']) {
    expect(await ask(Buffer.from(body, 'latin1'))).toContain('Status: Rejected.');
  }
});
