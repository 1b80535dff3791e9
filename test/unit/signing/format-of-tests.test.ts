/** A format outside the registry through the whole pipeline: signing with a journal, resuming, verifying, timestamping, removing. */

import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { TIME_STAMPING } from '../../../src/asn1/object-identifiers.ts';
import { octetString } from '../../../src/asn1/write.ts';
import { attributeValues } from '../../../src/cms/parse-signed-data.ts';
import type { Format } from '../../../src/formats/format.ts';
import { formats } from '../../../src/formats/registry.ts';
import { journalErrors } from '../../../src/journal/errors.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { attachSignature } from '../../../src/signing/changes/attach.ts';
import { removeSignatures } from '../../../src/signing/changes/remove.ts';
import { timestampFiles } from '../../../src/signing/changes/timestamp.ts';
import { signFiles } from '../../../src/signing/sign-files.ts';
import { decideSigning } from '../../../src/signing/signing-policy.ts';
import { verifyFile } from '../../../src/verifying/verify-file.ts';
import { digestEntries } from '../../../src/zip/entry-digests.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { chainOf } from '../../support/signed-files/authenticode-signing.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { signingContext } from '../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../support/signed-files/throwaway-signer.ts';
import { NOTE_LABEL, NOTE_SLACK, note, noteOf } from '../formats/support/note-format.ts';
import { openBytes, signBytes } from '../formats/support/sign-bytes.ts';
import { type JournalScene, journalScene } from './journal-scene.ts';
import { type FlatSigning, testRun } from './signing-run.ts';

const UNSIGNED = noteOf('what the note says');
const known = [...formats, note];
const POLICY = { existing: undefined, isAlgorithmGiven: false, allOrNothing: true, report: true };
const at = (time: string): FlatSigning => ({ formats: known, existing: undefined, now: () => new Date(time) });

let scene: JournalScene;
let path: string;
beforeEach(async () => {
  scene = await journalScene();
  path = join(scene.folder, 'a.note');
  await writeFile(path, UNSIGNED);
  return () => scene[Symbol.asyncDispose]();
});

const sign = async (journal: Journal, more: FlatSigning, output = path) =>
  (await signFiles([{ path, output }], scene.signing(journal, more))).files[0];

const change = async (what: typeof removeSignatures) =>
  (await what([{ path, output: path }], { ...testRun(), formats: known, onEvent: () => undefined })).files[0];

const verify = () =>
  verifyFile(path, {
    formats: known,
    digestEntries,
    examineTrust: undefined,
    now: new Date(),
    policy: { isTimestampRequired: false } as never,
  });

async function onlySignature() {
  const [signature, ...others] = await (await openBytes(note, await readFile(path))).signatures();
  if (signature === undefined || others.length > 0) throw new Error('the note has not one signature');
  return signature;
}

/** As of a run that ends between the rename and its note. */
async function endingEarly(): Promise<Journal> {
  const journal = await scene.open();
  const never = () => Promise.reject(journalErrors('journal-full', { folder: '/state' }));
  return {
    ...journal,
    claim: async (...asked) => ({ ...(await journal.claim(...asked)), written: never, reported: never }),
  };
}

describe('a format that only tests have', () => {
  it('is signed with its own option, and holds the time that was journalled', async () => {
    const more = { ...at('2026-03-04T05:06:07Z'), formatOptions: { [NOTE_LABEL.key]: 'urgent' } };
    expect(await sign(await scene.open(), more)).toMatchObject({ status: 'signed', format: 'note' });
    const { signedData } = await onlySignature();
    const values = (type: string) =>
      attributeValues(signedData?.signers[0].signedAttributes ?? [], type).map(({ contents }) =>
        Buffer.from(contents).toString(),
      );
    expect(values('1.2.840.113549.1.9.5')).toEqual(['20260304050607Z']);
    expect(values('1.3.6.1.4.1.55555.1')).toEqual(['urgent']);
    expect((await verify()).signatures).toMatchObject([{ integrity: 'intact' }]);
  });

  it('is signed to the same bytes by a later run that reuses the signature of one that was ended', async () => {
    const output = join(scene.folder, 'signed.note');
    await sign(await endingEarly(), at('2026-03-04T05:06:07Z'), output);
    const first = await readFile(output);
    const outcome = await sign(await scene.open(), at('2026-03-05T00:00:00Z'), output);
    expect(outcome).toMatchObject({ status: 'signed', reused: true });
    expect(await readFile(output)).toEqual(first);
    expect(scene.service.asked).toBe(1);
  });

  it('is given a timestamp, and later loses its signature: then it is the note that it was', async () => {
    await sign(await scene.open(), at('2026-03-04T05:06:07Z'));
    const authority = await startTimestampAuthority();
    const stamp = async (value: Uint8Array) => ({
      token: await authority.stamp(value),
      time: new Date(),
      authority: 'here',
    });
    const timestamping = { authorities: { stamp }, algorithm: 'SHA256', force: false } as const;
    const outcome = await change((files, run) => timestampFiles(files, timestamping, run));
    await authority.stop();
    expect(outcome).toMatchObject({ status: 'timestamped' });
    const signature = await onlySignature();
    expect(signature.timestamps).toMatchObject([{ kind: 'rfc3161', findings: [] }]);

    expect(await change(removeSignatures)).toMatchObject({ status: 'removed' });
    expect(await readFile(path)).toEqual(UNSIGNED);
    expect(await change((files, run) => attachSignature(files, signature.envelope.bytes, run))).toMatchObject({
      status: 'attached',
    });
    expect((await verify()).signatures).toMatchObject([{ integrity: 'intact', timestamps: [{ integrity: 'intact' }] }]);
  });

  it('is rejected before any request for a mode or a name that it does not sign', async () => {
    const appended = await sign(await scene.open(), { ...at('2026-03-04T05:06:07Z'), existing: 'append' });
    expect(appended).toMatchObject({ status: 'failed', error: { code: 'cannot-append' } });
    path = join(scene.folder, 'a.draft.note');
    await copyFile(join(scene.folder, 'a.note'), path);
    const draft = await sign(await scene.open(), at('2026-03-04T05:06:07Z'));
    expect(draft).toMatchObject({ status: 'failed', error: { code: 'unsupported-format' } });
    expect(scene.service.asked).toBe(0);
  });

  it('is signed only with a certificate for its purpose, and no request is sent with another', async () => {
    const stamping = { ...note, purpose: 'time-stamping' } as const;
    const more = { ...at('2026-03-04T05:06:07Z'), formats: [stamping] };
    expect(await sign(await scene.open(), more)).toMatchObject({
      status: 'failed',
      error: { code: 'certificate-not-for-purpose', message: expect.stringContaining('is not for timeStamping') },
    });
    expect(scene.service.asked).toBe(0);

    const stamper = makePki().leaf({ purposes: [TIME_STAMPING] });
    const context = signingContext({ chain: await chainOf(stamper) });
    const decide = async (format: Format) =>
      decideSigning(await openBytes(format, UNSIGNED), format, context, POLICY).then(
        ({ skipped }) => skipped,
        ({ code }) => code,
      );
    expect(await decide(stamping)).toBeUndefined();
    expect(await decide(note)).toBe('certificate-not-for-code-signing');
  });

  it('has a space that is fixed before it is signed, and fails rather than outgrow it', async () => {
    const signer = await makeThrowawaySigner();
    const [reserved, larger] = [NOTE_SLACK, 2 * NOTE_SLACK].map((size) => octetString(Buffer.alloc(size)));
    const { result } = await signBytes(note, UNSIGNED, signer, { token: reserved });
    const [without, withToken] = await Promise.all([
      signBytes(note, UNSIGNED, signer, { tokenReserve: reserved?.length }),
      openBytes(note, result),
    ]);
    expect(without.result).toHaveLength(result.length);
    expect(await withToken.signatures()).toMatchObject([{ timestamps: [{ kind: 'rfc3161' }] }]);
    await expect(signBytes(note, UNSIGNED, signer, { token: larger, tokenReserve: 0 })).rejects.toMatchObject({
      code: 'note-space-too-small',
    });
  });

  it('is replaceable only if it says so', async () => {
    const appending = { ...note, modes: ['append'], defaultMode: 'append' } as const;
    const more = { ...at('2026-03-04T05:06:07Z'), formats: [appending], existing: 'replace' } as const;
    expect(await sign(await scene.open(), more)).toMatchObject({ status: 'failed', error: { code: 'cannot-replace' } });
  });
});
