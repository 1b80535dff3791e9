import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { useServer } from '../../../test/support/services/shared-server.ts';
import { folderForAll, forAll } from '../../../test/support/set-up.ts';

const run = promisify(execFile);
const folder = folderForAll();
const server = await forAll(useServer({ bits: 2048 }));

const credentials = () => `${server.env.CODESIGN_ACCESS_KEY}:${server.env.CODESIGN_ACCESS_SECRET}`;

/** One call by curl, which checks the TLS certificate by the CA file and the name. */
async function curl(path: string, body: unknown) {
  const { stdout } = await run('curl', [
    ...['--silent', '--show-error', '--max-time', '20', '--cacert', server.caFile, '--user', credentials()],
    ...['--header', 'Content-Type: application/json', '--header', 'Accept: application/json'],
    ...['--data', JSON.stringify(body), '--write-out', '\n%{http_code}', `${server.baseUrl}${path}`],
  ]);
  const [text = '', status = ''] = stdout.split('\n');
  return { status: Number(status), body: JSON.parse(text) };
}

// The other algorithms: conformance/suite.test.ts.
test('what curl requests is a signature that openssl verifies with the certificate handed over', async () => {
  const openssl = async (line: string) => (await run('openssl', line.split(' '), { cwd: folder })).stdout;
  await writeFile(join(folder, 'content'), 'some content');
  const digest = createHash('SHA384').update('some content').digest('base64');
  const asked = { code: server.env.CODESIGN_CODE, digest, algorithm: 'SHA384', padding: 'PKCS1' };
  const { status, body } = await curl(SIGN_PATH, asked);
  expect({ status, code: body.code }).toEqual({ status: 200, code: 0 });
  await writeFile(join(folder, 'signature'), Buffer.from(body.data.signature, 'base64'));
  await openssl(`x509 -in ${server.env.CODESIGN_CERTIFICATE} -noout -pubkey -out public`);
  expect(await openssl('dgst -SHA384 -verify public -signature signature content')).toBe('Verified OK\n');
  const parsed = await openssl('pkeyutl -verifyrecover -pubin -inkey public -in signature -asn1parse');
  expect(parsed).toMatch(/OBJECT +:sha384\n.*NULL *\n.*OCTET STRING/i);

  const reported = { status: 200, body: { code: 0, data: null } };
  expect(await curl(REPORT_PATH, { id: body.data.id, status: 1 })).toMatchObject(reported);
});
