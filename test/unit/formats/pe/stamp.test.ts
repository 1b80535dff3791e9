/** Stamping signatures in PE files: real tokens, which osslsigncode finds good, and tables that cannot be written again. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FoundSignature, withNested } from '../../../../src/format/signature.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import { createTimestampDesk } from '../../../support/services/timestamp-desk.ts';
import { makeTimestampPki } from '../../../support/services/timestamp-pki.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { run } from '../../../system/interop/verifiers.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { signingIn, stampIn } from '../support/change.ts';
import { readFixture } from '../support/fixtures.ts';
import { isIntact } from '../support/is-intact.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { tableOf, withCertificates, withHeader } from './tables.ts';

const EMPTY = Buffer.of(0x30, 0);
const signed = readFixture('golden/sha256-rsa2048.exe');
const folder = folderForAll();
const at = (name: string) => path.join(folder, name);

const timestampPki = await makeTimestampPki(folder);
const desk = createTimestampDesk(timestampPki);
const signer = await makeThrowawaySigner();
writeFileSync(at('signer-root.pem'), signer.root);
writeFileSync(at('timestamp-root.pem'), timestampPki.rootPem);

/** With a token for each signature that is chosen. */
async function stamp(bytes: Buffer, choose: (index: number) => boolean = () => true): Promise<Buffer> {
  const file = await openBytes(pe, bytes);
  const tokens = new Map<FoundSignature, Uint8Array>();
  for (const [index, signature] of withNested(await file.signatures()).entries()) {
    const value = signature.value ?? Buffer.of();
    if (choose(index)) tokens.set(signature, await desk.stamp(value));
  }
  const embedding = await stampIn(file, tokens);
  const result = applyPatch(bytes, embedding.patch);
  const reopened = await openBytes(pe, result);
  await signingIn(reopened).verify(embedding);
  expect(await reopened.examine()).toEqual([]);
  return result;
}

async function osslsigncode(bytes: Buffer, name: string) {
  writeFileSync(at(name), bytes);
  const roots = ['-CAfile', at('signer-root.pem'), '-TSA-CAfile', at('timestamp-root.pem')];
  return run('osslsigncode', ['verify', ...roots, '-in', at(name)]);
}

describe('a stamped signature', () => {
  it('nested in another one is stamped alone, and osslsigncode accepts all of them', async () => {
    const stamped = await stamp(await threeSignatures(), (index) => index === 2);
    const all = withNested(await (await openBytes(pe, stamped)).signatures());
    expect(all.map(({ timestamps }) => timestamps.length)).toEqual([0, 0, 1]);
    expect(all[2]?.timestamps).toMatchObject([{ kind: 'rfc3161', findings: [] }]);
    for (const each of all) expect(await isIntact(each)).toBe(true);
    const { accepted, output } = await osslsigncode(stamped, 'nested.exe');
    expect(accepted).toBe(true);
    expect(output.match(/Timestamp Server Signature verification: ok/g)).toHaveLength(1);
  });
});

describe('signatures cannot be stamped: cannot-stamp', () => {
  const { bytes: table, data, offset } = tableOf(signed);
  const unaligned = Buffer.concat([signed.subarray(0, offset), Buffer.alloc(4), table]);
  unaligned.writeUInt32LE(offset + 4, unaligned.indexOf(Buffer.from(Uint32Array.of(offset, table.length).buffer)));

  it.each<[string, Buffer]>([
    ['two entries', withCertificates(signed, table, table)],
    ['an entry of another type next to one', withCertificates(signed, table, withHeader(data, { type: 1 }))],
    ['damage', withCertificates(signed, table, withHeader(data, { length: 1_000_000 }))],
    ['a table at an odd place', unaligned],
  ])('%s', async (_what, bytes) => {
    const file = await openBytes(pe, bytes);
    const [signature] = await file.signatures();
    if (signature === undefined) throw new Error('unsigned');
    const attempt = stampIn(file, new Map([[signature, EMPTY]]));
    await expect(attempt).rejects.toMatchObject({ code: 'cannot-stamp', category: 'local' });
  });
});

describe('the signatures to be stamped', () => {
  it('omit hidden bytes after them from the result', async () => {
    const { data } = tableOf(signed);
    const hiding = withCertificates(signed, withHeader(Buffer.concat([data, Buffer.from('payload!')])));
    const file = await openBytes(pe, hiding);
    const [signature] = await file.signatures();
    if (signature === undefined) throw new Error('unsigned');
    const { patch } = await stampIn(file, new Map([[signature, EMPTY]]));
    expect(applyPatch(hiding, patch).includes('payload!')).toBe(false);
  });
});

async function threeSignatures(): Promise<Buffer> {
  const first = await signBytes(pe, readFixture('pe/hello.exe'), signer);
  const second = await signBytes(pe, first.result, signer, { mode: 'append', algorithm: 'SHA384' });
  return (await signBytes(pe, second.result, signer, { mode: 'append', algorithm: 'SHA512' })).result;
}
