/** Reading signatures of others, sound, damaged and hostile: a result or a coded error, soon. */

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { encode, sequence } from '../../../src/asn1/write.ts';
import { nestSignature } from '../../../src/authenticode/authenticode-file.ts';
import { readAuthenticode } from '../../../src/authenticode/read-authenticode.ts';
import { readCertificateFields } from '../../../src/certificates/certificate.ts';
import { makePki } from '../../support/signed-files/pki.ts';
import { isValid, MD5, type Peculiar, peculiarSignature } from './peculiar-signature.ts';

const leaf = makePki().leaf();
const peculiar = (options: Peculiar = {}) => peculiarSignature(leaf, options);
const cms = peculiar();

it('reads a sound signature apart from what follows it', () => {
  const read = readAuthenticode(Buffer.concat([cms, Buffer.alloc(5, 9)]));
  const { trailingLength, bytes, signers } = read.signedData;
  expect([read.algorithm, read.nested, trailingLength, isValid(read)]).toEqual(['SHA256', [], 5, true]);
  expect(Buffer.from(bytes)).toEqual(Buffer.from(cms));
  expect(read.contentDigest).toEqual(createHash('sha256').update('content').digest());
  expect(Buffer.from(signers[0].certificate ?? [])).toEqual(Buffer.from(leaf.der));
  expect(readAuthenticode(peculiar({ digest: MD5 })).algorithm).toBeUndefined();
});

it('reads issuer and serial number for a name where the certificate is missing', () => {
  const serial = Buffer.from(readCertificateFields(leaf.der).serialNumber.slice(2)).toString('hex');
  const [signer] = readAuthenticode(peculiar({ certificates: [] })).signedData.signers;
  expect(signer.certificate).toBeUndefined();
  expect(signer.name).toBe(`CN=Test Code Signing CA, serial number ${serial}`);
});

it.each([
  ['contentType is no object identifier', '06092a864886f70d010903310c060a', '06092a864886f70d010903310c040a'],
  ['messageDigest is no OCTET STRING', '06092a864886f70d01090431220420', '06092a864886f70d01090431220c20'],
])('a signature whose %s is read, and does not verify', (_name, sound, damaged) => {
  const changed = Buffer.from(cms);
  const at = changed.indexOf(Buffer.from(sound, 'hex'));
  expect(at).toBeGreaterThan(0);
  changed.write(damaged, at, 'hex');
  expect(isValid(readAuthenticode(changed))).toBe(false);
});

const nestedDeep = (depth: number) =>
  Array.from({ length: depth }).reduce<Uint8Array>((inner) => nestSignature(cms, inner), cms);
const withCertificates = (count: number) => peculiar({ certificates: Array(count).fill(leaf.der) });

/** Many more: `test/system/hostile/signature-cases.ts`. */
it.each<[string, string | undefined, Uint8Array]>([
  ['a part after the signers', 'cms-malformed', peculiar({ afterSigners: sequence() })],
  ['a part after the signature', 'cms-malformed', peculiar({ afterSignature: sequence() })],
  ['no signer', 'cms-without-signer', peculiar({ signers: 0 })],
  ['other content', 'authenticode-content-other', peculiar({ contentType: '1.2.840.113549.1.7.1' })],
  ['no content', 'authenticode-malformed', peculiar({ content: undefined })],
  ['content of another shape', 'cms-malformed', peculiar({ content: sequence() })],
  ['a broken nested one', 'cms-malformed', nestSignature(cms, sequence())],
  ['4 nested signatures', undefined, nestedDeep(4)],
  ['5 nested signatures', 'authenticode-nested-too-deeply', nestedDeep(5)],
  ['200 certificates', undefined, withCertificates(200)],
  ['201 certificates', 'cms-too-large', withCertificates(201)],
  ['16 signers', undefined, peculiar({ signers: 16 })],
  ['17 signers', 'cms-too-large', peculiar({ signers: 17 })],
  ['an object identifier of 1 MB', 'cms-malformed', sequence(encode(0x06, Buffer.alloc(1_000_000, 0x81)))],
])('with %s, gives %s', (_name, code, bytes) => {
  if (code === undefined) expect(isValid(readAuthenticode(bytes))).toBe(true);
  else expect(() => readAuthenticode(bytes)).toThrow(expect.objectContaining({ code }));
});
