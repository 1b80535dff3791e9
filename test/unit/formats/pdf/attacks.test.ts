/** What `verify` finds in documents that were changed after they were signed, and what keeps a document from being signed. */

import { beforeAll, describe, expect, it } from 'vitest';
import { speaksAgainst } from '../../../../src/errors/finding.ts';
import { pdf } from '../../../../src/formats/pdf/index.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { ALLOWED, ATTACKS } from './attacks.ts';
import { makePdf } from './make-pdf.ts';

let signer: ThrowawaySigner;

beforeAll(async () => {
  signer = await makeThrowawaySigner();
});

async function findingsAfter({
  original,
  certify,
  attack,
}: Pick<(typeof ALLOWED)[number], 'original' | 'certify' | 'attack'>) {
  const { result } = await signBytes(pdf, original, signer, certify === undefined ? {} : { certify });
  const changed = attack(result);
  expect(changed.equals(result)).toBe(false);
  const signatures = await (await openBytes(pdf, changed)).signatures();
  expect(signatures).toHaveLength(1);
  return (await signatures[0]?.examine()) ?? [];
}

describe('attacks on signed documents', () => {
  it.each(ATTACKS)('$name is found', async (attack) => {
    const findings = await findingsAfter(attack);
    expect(findings.map(({ code }) => code)).toContain(attack.code);
    expect(speaksAgainst(findings, 'integrity')).toBe(true);
  });

  it.each(ALLOWED)('$name leaves the signature intact', async (change) => {
    const findings = await findingsAfter(change);
    expect(findings.map(({ code }) => code)).toEqual(change.code === undefined ? [] : [change.code]);
    expect(speaksAgainst(findings, 'integrity')).toBe(false);
  });
});

const FIELD = (more: string) => `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Approval) /Rect [0 0 9 9] ${more} >>`;
const withField = (more: string) =>
  makePdf({ catalog: '/AcroForm << /Fields [5 0 R] >>', page: '/Annots [5 0 R]', objects: [FIELD(more)] });

describe('a document that cannot be signed', () => {
  const check = async (bytes: Buffer, options: Record<string, string> = {}) =>
    (await openBytes(pdf, bytes)).check(signingContext({ chain: signer.chain }, options), 'append');

  it.each([
    ['an XFA form', 'pdf-xfa', makePdf({ catalog: '/AcroForm << /Fields [] /XFA (x) >>' }), {}],
    ['a field that is not there', 'pdf-field-unusable', makePdf(), { field: 'Approval' }],
    ['a read-only field', 'pdf-field-unusable', withField('/Ff 1'), { field: 'Approval' }],
    ['a field that locks others', 'pdf-field-unusable', withField('/Lock << /Action /All >>'), { field: 'Approval' }],
    [
      'an object that is elsewhere',
      'pdf-malformed',
      Buffer.from(
        makePdf()
          .toString('latin1')
          .replace(/\n4 1\n\d{10}/, '\n4 1\n0000000012'),
        'latin1',
      ),
      {},
    ],
    [
      'a count of objects that is too small',
      'pdf-cross-reference-broken',
      Buffer.from(makePdf().toString('latin1').replace('/Size 5', '/Size 4'), 'latin1'),
      {},
    ],
  ])('has %s', async (_what, code, bytes, options) => {
    await expect(check(bytes, options)).rejects.toMatchObject({ code });
  });

  it('has a certification that allows no change, or is to be certified although it is signed', async () => {
    const certified = await signBytes(pdf, makePdf(), signer, { certify: 'no-changes' });
    await expect(check(certified.result)).rejects.toMatchObject({ code: 'pdf-changes-forbidden' });
    const { result } = await signBytes(pdf, makePdf(), signer);
    await expect(check(result, { certify: 'forms' })).rejects.toMatchObject({ code: 'pdf-certify-not-first' });
  });

  it('has too little space for a token that is larger than announced', async () => {
    const token = Buffer.concat([Buffer.from('30820800', 'hex'), Buffer.alloc(0x800)]);
    await expect(signBytes(pdf, makePdf(), signer, { token, tokenReserve: 16 })).rejects.toMatchObject({
      code: 'pdf-space-too-small',
    });
  });
});

it('signs the empty field that is named', async () => {
  const { result } = await signBytes(pdf, withField(''), signer, { field: 'Approval', reason: 'Geprüft (ja)' });
  const [signature] = await (await openBytes(pdf, result)).signatures();
  expect(signature?.location).toBe('field Approval');
  expect(await signature?.details()).toContainEqual({ name: 'reason', value: 'Geprüft (ja)' });
});
