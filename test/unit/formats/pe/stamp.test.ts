/** Stamping signatures in PE files: real tokens, which osslsigncode finds good, and tables that cannot be written again. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { withNested } from '../../../../src/format/signature.ts';
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
import { tableOf, withCertificates } from './tables.ts';

const EMPTY = Buffer.of(0x30, 0);
const folder = folderForAll();
const at = (name: string) => path.join(folder, name);

const timestampPki = await makeTimestampPki(folder);
const desk = createTimestampDesk(timestampPki);
const signer = await makeThrowawaySigner();
writeFileSync(at('signer-root.pem'), signer.root);
writeFileSync(at('timestamp-root.pem'), timestampPki.rootPem);

it('stamps a nested signature alone, and osslsigncode accepts all of them', async () => {
  const first = await signBytes(pe, readFixture('pe/hello.exe'), signer);
  const second = await signBytes(pe, first.result, signer, { mode: 'append', algorithm: 'SHA384' });
  const { result } = await signBytes(pe, second.result, signer, { mode: 'append', algorithm: 'SHA512' });
  const file = await openBytes(pe, result);
  const last = withNested(await file.signatures())[2] ?? expect.unreachable();
  const embedding = await stampIn(file, new Map([[last, await desk.stamp(last.value ?? EMPTY)]]));
  const stamped = applyPatch(result, embedding.patch);
  const reopened = await openBytes(pe, stamped);
  await signingIn(reopened).verify(embedding);
  const all = withNested(await reopened.signatures());
  expect(all.map(({ timestamps }) => timestamps.length)).toEqual([0, 0, 1]);
  expect(all[2]?.timestamps).toMatchObject([{ kind: 'rfc3161', findings: [] }]);
  for (const each of all) expect(await isIntact(each)).toBe(true);
  writeFileSync(at('nested.exe'), stamped);
  const roots = ['-CAfile', at('signer-root.pem'), '-TSA-CAfile', at('timestamp-root.pem')];
  const { accepted, output } = await run('osslsigncode', ['verify', ...roots, '-in', at('nested.exe')]);
  expect(accepted).toBe(true);
  expect(output.match(/Timestamp Server Signature verification: ok/g)).toHaveLength(1);
});

it('does not stamp one of two entries: cannot-stamp', async () => {
  const signed = readFixture('golden/sha256-rsa2048.exe');
  const { bytes } = tableOf(signed);
  const file = await openBytes(pe, withCertificates(signed, bytes, bytes));
  const [signature = expect.unreachable()] = await file.signatures();
  const attempt = stampIn(file, new Map([[signature, EMPTY]]));
  await expect(attempt).rejects.toMatchObject({ code: 'cannot-stamp', category: 'local' });
});
