/** What `verify` finds in documents that were changed after they were signed, and what keeps a document from being signed. */

import { describe, expect, it } from 'vitest';
import { type ByteSource, memorySource } from '../../../../src/bytes/byte-source.ts';
import { hasFindingAgainst } from '../../../../src/errors/finding.ts';
import { checkReferences } from '../../../../src/formats/pdf/check.ts';
import { pdf } from '../../../../src/formats/pdf/index.ts';
import { prepareUpdate } from '../../../../src/formats/pdf/new-signature.ts';
import { openDocument } from '../../../../src/pdf-syntax/document.ts';
import { requireUnbroken } from '../../../../src/signing/existing-signatures.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { buildToken, buildTstInfo } from '../../timestamp/support/build-token.ts';
import { checkIn, signingIn, wholeStamping } from '../support/change.ts';
import { openBytes, plainReader, type SignedBytes, signBytes } from '../support/sign-bytes.ts';
import { ALLOWED, ATTACKS, type Attack, edited, formWith } from './attacks.ts';
import { documentWithField, makePdf, withUpdate } from './make-pdf.ts';
import { READER_ATTACKS, UNREADABLE } from './reader-attacks.ts';
import { REPAIR_ATTACKS } from './repair-attacks.ts';
import { SPECIFICATION_ATTACKS } from './specification-attacks.ts';

const signer = await makeThrowawaySigner();

const signedOnce = new Map<string, Promise<SignedBytes>>();

/** Many attacks are on the same document. */
function signed({ original, certify }: Attack): Promise<SignedBytes> {
  const key = `${certify} ${original.toString('latin1')}`;
  const known = signedOnce.get(key) ?? signBytes(pdf, original, signer, certify === undefined ? {} : { certify });
  signedOnce.set(key, known);
  return known;
}

async function findingsAfter(attack: Attack) {
  const { result } = await signed(attack);
  const changed = attack.attack(Buffer.from(result));
  expect(changed.equals(result)).toBe(false);
  const signatures = await (await openBytes(pdf, changed)).signatures();
  return (await signatures[0]?.examine()) ?? [];
}

describe('attacks on signed documents', () => {
  const all = [...ATTACKS, ...READER_ATTACKS, ...REPAIR_ATTACKS, ...SPECIFICATION_ATTACKS];

  it.each(all)('$name is found', async (attack) => {
    const findings = await findingsAfter(attack);
    const { code = 'pdf-changed-after-signing', weight = 'broken', where = '' } = attack;
    expect(findings).toContainEqual({ code, weight, message: expect.stringContaining(where) });
  });

  it.each(UNREADABLE)('$name: the document is not read', async (attack) => {
    await expect(findingsAfter(attack)).rejects.toMatchObject({ code: 'pdf-cross-reference-broken' });
  });

  it.each(ALLOWED)('$name leaves the signature intact', async (change) => {
    const findings = await findingsAfter(change);
    expect(findings.map(({ code }) => code)).toEqual(change.code === undefined ? [] : [change.code]);
    expect(hasFindingAgainst(findings, 'integrity')).toBe(false);
  });
});

/** The document, certified, with a lock of fields (12.8.2.4) in the place of the certification; its digest is then wrong. */
function withLock(certified: Buffer, lock: string): Buffer {
  const locked = edited(certified, /\/DocMDP \/TransformParams <<[^>]*>>/, (found) =>
    `/FieldMDP/TransformParams<<${lock}>>`.padEnd(found.length),
  );
  expect(locked).toHaveLength(certified.length);
  return locked;
}

it.each([
  ['/Action/All', true],
  ['/Action/Include/Fields[(Approval)]', true],
  ['/Action/Include/Fields[(App)]', false],
  ['/Action/Exclude/Fields[(Approval)]', false],
  ['/Action/Exclude/Fields[(App)]', true],
])('a signature that locks fields by %s: the field "Approval" is signed later', async (lock, isLocked) => {
  const first = await signBytes(pdf, documentWithField(), signer, { certify: 'forms' });
  const { result } = await signBytes(pdf, first.result, signer, { field: 'Approval' });
  const [signature] = await (await openBytes(pdf, withLock(result, lock))).signatures();
  const codes = (await signature?.examine())?.map(({ code }) => code);
  expect(codes).toEqual(['message-digest-differs', ...(isLocked ? ['pdf-changed-after-signing'] : [])]);
});

describe('an unusual document', () => {
  it('that refers to objects that it does not have keeps them missing', async () => {
    const original = makePdf({ page: '/Group 5 0 R /Thumb 6 0 R' });
    const { result } = await signBytes(pdf, original, signer);
    expect(result.toString('latin1')).not.toMatch(/\n[56] 0 obj/);
    expect(result.toString('latin1')).toMatch(/\n7 0 obj/);
  });

  it('that counts fewer objects than it has gets a right count', async () => {
    const { result } = await signBytes(pdf, edited(makePdf(), '/Size 5', '/Size 4'), signer);
    expect(result.toString('latin1')).toMatch(/\/Size 8(?![\s\S]*\/Size)/);
  });

  /** A document of 12 GB, zeros for the most part: its objects are at the start, and what leads to them is at the end. */
  const large = (head: Buffer, tailAt: (offset: number) => string): ByteSource => {
    const size = 12_000_000_000;
    const tail = Buffer.from(tailAt(size - 1000).padEnd(1000), 'latin1');
    const read = async (offset: number, length: number) => {
      const bytes = Buffer.alloc(length);
      for (const [part, at] of [
        [head, 0],
        [tail, size - tail.length],
      ] as const) {
        const [from, to] = [Math.max(offset, at), Math.min(offset + length, at + part.length)];
        if (from < to) part.copy(bytes, from - offset, from - at, to - at);
      }
      return bytes;
    };
    return { size, read, stream: () => memorySource(Buffer.alloc(0)).stream() };
  };
  const whole = makePdf();
  const head = whole.subarray(0, whole.lastIndexOf('xref\n0'));

  it('of 12 GB with a table is rejected, since its table cannot hold the offsets of the update', async () => {
    const table = whole.toString('latin1', head.length).split('startxref')[0];
    const source = large(head, (offset) => `${table}startxref\n${offset}\n%%EOF\n`);
    const file = await pdf.open(source, plainReader());
    const checking = signingIn(file).check(signingContext({ chain: signer.chain }), 'append');
    await expect(checking).rejects.toMatchObject({ code: 'pdf-offsets-too-large' });
  });

  it('of 12 GB with a cross-reference stream gets an update with longer numbers', async () => {
    const rows = Buffer.alloc(25);
    for (let number = 1; number < 5; number += 1) {
      rows.writeUInt8(1, number * 5);
      rows.writeUInt32BE(head.indexOf(`${number} 0 obj`), number * 5 + 1);
    }
    const dictionary = '<< /Type /XRef /Size 6 /Index [0 5] /W [1 4 0] /Root 1 0 R /Length 25 >>';
    const stream = `5 0 obj\n${dictionary}\nstream\n${rows.toString('latin1')}\nendstream\nendobj\n`;
    const document = await openDocument(large(head, (offset) => `${stream}startxref\n${offset}\n%%EOF\n`));
    const firstNumber = await checkReferences(document);
    const wanted = { entries: [], field: 'Signature1', firstNumber, space: 8, certifies: false };
    const [{ insert = [] } = {}] = (await prepareUpdate(document, wanted)).put(Buffer.of(1));
    const update = Buffer.concat([...insert].map((piece) => piece as Uint8Array)).toString('latin1');
    const [, start = '', end = '', rest = ''] = /\/ByteRange \[0 (\d+) +(\d+) +(\d+) *\]/.exec(update) ?? [];
    expect(Number(start)).toBe(document.source.size + update.indexOf('<01'));
    expect(Number(end)).toBe(Number(start) + 18);
    expect(Number(rest)).toBe(document.source.size + update.length - Number(end));
  });
});

describe('a document that cannot be signed', () => {
  const check = async (bytes: Buffer, options: Record<string, string> = {}) =>
    signingIn(await openBytes(pdf, bytes)).check(signingContext({ chain: signer.chain }, options), 'append');

  const LOCKING = documentWithField('/Lock << /Action /All >>');

  it.each([
    ['an XFA form', 'pdf-xfa', makePdf({ catalog: '/AcroForm << /Fields [] /XFA (x) >>' }), {}],
    ['a field that is not there', 'pdf-field-unusable', makePdf(), { field: 'Approval' }],
    ['a read-only field', 'pdf-field-unusable', documentWithField('/Ff 1'), { field: 'Approval' }],
    ['a field that locks others', 'pdf-field-unusable', LOCKING, { field: 'Approval' }],
    ['an object elsewhere', 'pdf-malformed', edited(makePdf(), /\n4 1\n\d{10}/, '\n4 1\n0000000012'), {}],
  ])('has %s', async (_what, code, bytes, options) => {
    await expect(check(bytes, options)).rejects.toMatchObject({ code });
  });

  it('has a certification that allows no change, or is to be certified although it is signed', async () => {
    const certified = await signBytes(pdf, makePdf(), signer, { certify: 'no-changes' });
    await expect(check(certified.result)).rejects.toMatchObject({ code: 'pdf-changes-forbidden' });
    const { result } = await signBytes(pdf, makePdf(), signer);
    await expect(check(result, { certify: 'forms' })).rejects.toMatchObject({ code: 'pdf-certify-not-first' });
  });

  it('has a signature that locks its fields', async () => {
    const { result } = await signBytes(pdf, documentWithField(), signer, { certify: 'forms' });
    const locked = withLock(result, '/Action/All');
    const message = expect.stringContaining('locks the field "Approval"');
    const refusal = { code: 'pdf-changes-forbidden', message };
    await expect(check(locked, { field: 'Approval' })).rejects.toMatchObject(refusal);
  });

  it('has a signature that is broken', async () => {
    const { result } = await signBytes(pdf, makePdf(), signer);
    const file = await openBytes(pdf, Buffer.concat([result, Buffer.from('more')]));
    const refused = { code: 'cannot-append', hint: expect.not.stringContaining('--replace') };
    const signing = checkIn(file, pdf, signingContext({ chain: signer.chain }), 'append');
    await expect(signing).rejects.toMatchObject(refused);
    await expect(requireUnbroken(file, await file.signatures(), pdf)).rejects.toMatchObject(refused);
  });

  it('has a broken document timestamp and no signature', async () => {
    const field = '<< /Type /Annot /Subtype /Widget /FT /Sig /T (Stamp) /Rect [0 0 0 0] /V 6 0 R >>';
    const value = '<< /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 /ByteRange [0 1 2 3] /Contents <3000> >>';
    const catalog = '/AcroForm << /Fields [5 0 R] >>';
    const file = await openBytes(pdf, makePdf({ catalog, page: '/Annots [5 0 R]', objects: [field, value] }));
    expect(await file.signatures()).toEqual([]);
    expect((await file.examine()).map(({ code }) => code)).toContain('pdf-byte-range-wrong');
    const signing = checkIn(file, pdf, signingContext({ chain: signer.chain }), 'append');
    await expect(signing).rejects.toMatchObject({ code: 'cannot-append' });
  });

  it('has as many revisions as this program reads: no signature or timestamp is requested', async () => {
    const { result } = await signBytes(pdf, makePdf(), signer);
    const update = (size: number) => `xref\ntrailer\n<< /Size 9 /Root 1 0 R /Prev ${size} >>\nstartxref\n`;
    let previous = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(result.toString('latin1'))?.[1]);
    let size = result.length;
    const updates = Array.from({ length: 998 }, () => {
      const text = `${update(previous)}${size}\n%%EOF\n`;
      previous = size;
      size += text.length;
      return text;
    });
    const file = await openBytes(pdf, Buffer.concat([result, Buffer.from(updates.join(''))]));
    const preparing = signingIn(file).prepare(signingContext({ chain: signer.chain }), 'append');
    await expect(preparing).rejects.toMatchObject({ code: 'pdf-result-broken' });
    const stamping = wholeStamping(file).prepare('SHA256', false);
    await expect(stamping).rejects.toMatchObject({ code: 'pdf-result-broken' });
  });

  it('has too little space for a token that is larger than the space that is reserved', async () => {
    const token = Buffer.concat([Buffer.from('30827000', 'hex'), Buffer.alloc(0x7000)]);
    await expect(signBytes(pdf, makePdf(), signer, { token })).rejects.toMatchObject({ code: 'pdf-space-too-small' });
  });
});

it('signs a document that was filled in as its certification allows, but not one with a broken timestamp', async () => {
  const first = await signBytes(pdf, documentWithField(), signer, { certify: 'forms' });
  const filled = withUpdate(first.result, formWith(first.result, '/Fields', '/Q 1 /Fields'), { size: 9 });
  const { result } = await signBytes(pdf, filled, signer);
  const signatures = await (await openBytes(pdf, result)).signatures();
  const findings = await Promise.all(signatures.map((signature) => signature.examine()));
  expect(findings).toMatchObject([[{ weight: 'unsupported' }], []]);

  const foreign = buildToken({ info: buildTstInfo(Buffer.from('another signature')) });
  const stamped = await signBytes(pdf, makePdf(), signer, { token: foreign });
  await expect(signBytes(pdf, stamped.result, signer)).rejects.toMatchObject({
    code: 'cannot-append',
    message: expect.stringContaining('the signature there is broken (field Signature1)'),
  });
});

it('signs the empty field that is named', async () => {
  const { result } = await signBytes(pdf, documentWithField(''), signer, { field: 'Approval', reason: 'Geprüft (ja)' });
  const [signature] = await (await openBytes(pdf, result)).signatures();
  expect(signature?.location).toBe('field Approval');
  const before = (await openBytes(pdf, documentWithField())).layout();
  expect(before).toContainEqual({ name: 'empty signature fields', value: 'Approval' });
  expect(await signature?.details()).toContainEqual({ name: 'reason', value: 'Geprüft (ja)' });
});
