/** PDF documents, whose signatures hold a time and rest on one another, as a user signs and changes them: the built program and a real server. */

import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TIMESTAMP_TOKEN } from '../../../../src/asn1/object-identifiers.ts';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { runCli, temporaryFolder } from '../../../support/programs/cli.ts';
import { runMeasured } from '../../../support/programs/measured-cli.ts';
import { verifyTimestamp } from '../../../support/programs/openssl.ts';
import { NO_AUTHORITY, resumeWith } from '../../../support/runs/resume-scene.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';
import { documentWithField, makePdf } from '../../../unit/formats/pdf/make-pdf.ts';

const server = await forAll(useServer({ bits: 2048, tsa: true }));

/** Each timestamp token of a document with what it is of: the value of a signature, or what its update covers. */
function tokensOf(bytes: Buffer): readonly { readonly token: Uint8Array; readonly data: Uint8Array }[] {
  const found = bytes
    .toString('latin1')
    .matchAll(/\/ByteRange \[0 (\d+) +(\d+) +(\d+) *\] \/Contents <([\dA-F]+)>([^>]*)/g);
  return [...found].flatMap(([, start, end, length, digits = '', rest = '']) => {
    const cms = Buffer.from(digits, 'hex');
    const der = cms.subarray(0, 4 + cms.readUInt16BE(2));
    const covered = Buffer.concat([
      bytes.subarray(0, Number(start)),
      bytes.subarray(Number(end), Number(end) + Number(length)),
    ]);
    if (rest.includes('/DocTimeStamp')) return [{ token: der, data: covered }];
    const [signer] = parseSignedData(der).signers;
    const stamps = signer.unsignedAttributes.filter(({ type }) => type === TIMESTAMP_TOKEN);
    return stamps.flatMap(({ values }) => values.map(({ bytes: token }) => ({ token, data: signer.signature })));
  });
}

it('are finished by resume with one request, and get and lose timestamps that openssl accepts', async () => {
  await using folder = await temporaryFolder();
  const env = { ...server.env, CODESIGN_STATE_DIR: join(folder.path, 'state') };
  const path = join(folder.path, 'report.pdf');
  const original = documentWithField();
  await writeFile(path, original);
  const cli = (...args: string[]) => runCli([...args, path], { env });
  expect(await cli('sign', ...NO_AUTHORITY, '--certify', 'forms', '--reason', 'Geprüft')).toMatchObject({ code: 7 });
  expect(await readFile(path)).toEqual(original);
  expect(await resumeWith(env)).toMatchObject({ code: 0, calls: [{ status: 'finished' }] });
  expect(server.operations('sign')).toHaveLength(1);
  const certified = await readFile(path);
  expect(certified.subarray(0, original.length)).toEqual(original);

  expect(await cli('sign', '--no-timestamp', '--field', 'Approval')).toMatchObject({ code: 0 });
  expect(await cli('timestamp')).toMatchObject({ code: 0 });
  const stamped = await readFile(path);
  const tokens = tokensOf(stamped);
  expect(tokens).toHaveLength(2);
  const roots = await readFile(join(server.data, 'roots.pem'));
  for (const { token, data } of tokens) expect(verifyTimestamp(token, data, roots)).toContain('Verification: OK');
  expect(await cli('timestamp', '--force')).toMatchObject({ code: 0 });
  expect((await readFile(path)).length).toBeGreaterThan(stamped.length);
  expect(await cli('verify', '--integrity-only', '--require-timestamp')).toMatchObject({ code: 0 });

  for (let update = 0; update < 3; update += 1) expect(await cli('remove')).toMatchObject({ code: 0 });
  expect(await readFile(path)).toEqual(certified);
  expect(await cli('remove')).toMatchObject({ code: 0 });
  expect(await readFile(path)).toEqual(original);
});

/** Twice as long as the memory that is allowed. */
const LARGE = 200_000_000;
const MOST_MEMORY = 100 * 1024 * 1024;

/** With a stream of so many zeros, which take no space on the disk, in front of the table. */
async function writeLarge(path: string, zeros: number): Promise<void> {
  const text = makePdf().toString('latin1');
  const table = text.indexOf('xref\n0');
  const start = Number(/startxref\n(\d+)/.exec(text)?.[1]);
  const head = `${text.slice(0, table)}5 0 obj\n<< /Length ${zeros} >>\nstream\n`;
  const tail = '\nendstream\nendobj\n';
  const entry = `5 1\n${String(table).padStart(10, '0')} 00000 n \ntrailer`;
  const end = text.slice(table).replace('trailer', entry).replace('/Size 5', '/Size 6');
  const at = head.length + zeros + tail.length;
  await using file = await open(path, 'w');
  await file.write(Buffer.from(head, 'latin1'), 0, head.length, 0);
  const last = Buffer.from(`${tail}${end.replace(`startxref\n${start}`, `startxref\n${at}`)}`, 'latin1');
  await file.write(last, 0, last.length, head.length + zeros);
}

it('of 200 MB are signed twice, stamped and verified in 100 MiB of memory', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'large.pdf');
  await writeLarge(path, LARGE);
  for (const args of [
    ['sign'],
    ['sign', '--no-timestamp'],
    ['timestamp'],
    ['verify', '--integrity-only'],
    ['inspect'],
    ['remove'],
  ]) {
    const { code, stderr, usage } = await runMeasured([...args, path], { env: server.env });
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
    expect({ args, peak: usage.peakBytes }).toEqual({ args, peak: expect.toSatisfy((bytes) => bytes < MOST_MEMORY) });
  }
});
