/** Hostile certificates in programs: keys, names, extensions, times, and pools to lose oneself in. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { encode, octetString, sequence } from '../../../src/asn1/write.ts';
import {
  AUTHORITY,
  CODE_SIGNING_PURPOSE,
  extension,
  generalizedTime,
  type HostileCertificate,
  hostileCertificate,
  name,
  relativeName,
  rsaPublicKey,
  TIME_STAMPING_PURPOSE,
  utcTime,
} from '../../support/signed-files/hostile-certificates.ts';
import { attribute } from '../../support/signed-files/hostile-cms.ts';
import { peWithSignature } from '../../support/signed-files/hostile-pe.ts';
import { testKey } from '../../support/signed-files/pki.ts';
import {
  authority,
  type HostileFile,
  hostile,
  listed,
  NESTED,
  programWith,
  signature,
  signer,
  signerWith,
  strangers,
  TIMESTAMP,
  tokenFor,
} from './cases.ts';

const signedBy = (parts: Partial<HostileCertificate>) => programWith({ signer: signerWith(parts) });
const unreadable = (what: string, parts: () => Partial<HostileCertificate>): HostileFile =>
  hostile(what, 'broken', 'signature-unreadable', () => signedBy(parts()));
/** Longer than all certificates of a file may be together, so that it is not judged. */
const tooLong: typeof unreadable = (what, parts) => ({ ...unreadable(what, parts), verdict: 'unsupported' });
const bytesOf = (bits: number) => Buffer.concat([Uint8Array.of(1), Buffer.alloc(bits / 8 - 1, 7)]);

/** 95 certificates that may all be the signer's issuer, with a key that costs as much as can be. */
function manyIssuers(publicKey: Uint8Array, signature: Uint8Array, signatureAlgorithm?: Uint8Array): Buffer {
  const signed = { issuer: name('Slow'), signature, ...(signatureAlgorithm && { signatureAlgorithm }) };
  const leaf = hostileCertificate({ ...signed, subject: name('Leaf'), publicKey: signer.publicKey });
  const issuers = strangers(95, { ...signed, subject: name('Slow'), publicKey });
  return programWith({ signer: { ...signer, der: leaf }, certificates: [leaf, ...issuers] });
}

/**
 * 32 timestamps by different authorities, each of which any of the 190 issuers with keys on P-521 may have issued. The
 * signatures of the certificates are right in form, so each check takes its full time.
 */
function manyIssuersOfTimestamps(): Buffer {
  const slow = generateKeyPairSync('ec', { namedCurve: 'P-521' });
  const publicKey = slow.publicKey.export({ type: 'spki', format: 'der' });
  const signed = (index: number) => ({
    issuer: name('Slow'),
    signature: sign('sha256', Buffer.of(index), slow.privateKey),
  });
  const issuers = (count: number) => strangers(count, { ...signed(0), subject: name('Slow'), publicKey });
  const token = (value: Uint8Array, index: number) => {
    const extensions = [TIME_STAMPING_PURPOSE];
    const der = signerWith({ ...signed(index), subject: name(`TSA ${index}`), extensions }).der;
    return tokenFor(value, { ...authority, der });
  };
  const stamps = (value: Uint8Array, from: number) =>
    attribute(TIMESTAMP, ...listed(16, (index) => token(value, from + index)));
  const inner = signature({
    certificates: [signer.der, ...issuers(100)],
    unsignedAttributes: (value) => [stamps(value, 16)],
  });
  const outer = signature({
    certificates: [signer.der, ...issuers(190)],
    unsignedAttributes: (value) => [stamps(value, 0), attribute(NESTED, inner)],
  });
  return peWithSignature(outer);
}

/** Authorities that all certified each other, under one name each: every order of them is a path. */
function mesh(count: number): Uint8Array[] {
  const all = listed(count, (index) => ({ subject: name(`Mesh ${index}`), ...testKey('ec', `mesh ${index}`) }));
  return all.flatMap((issuer) =>
    all.map(({ subject, publicKey }) =>
      hostileCertificate({
        subject,
        issuer: issuer.subject,
        publicKey,
        issuerKey: issuer.privateKey,
        extensions: [AUTHORITY],
      }),
    ),
  );
}

function inMesh(count: number): Buffer {
  const { privateKey } = testKey('ec', 'mesh 0');
  const leaf = signerWith({ subject: name('Lost'), issuer: name('Mesh 0'), issuerKey: privateKey });
  return programWith({ signer: leaf, certificates: [leaf.der, ...mesh(count)] });
}

function validity(what: string, from: Uint8Array, to: Uint8Array): HostileFile {
  return hostile(`a validity ${what}`, 'untrusted', null, () => signedBy({ validity: [from, to] }));
}

export const CERTIFICATE_CASES: readonly HostileFile[] = [
  hostile('200 certificates', 'untrusted', null, () => programWith({ certificates: [signer.der, ...strangers(199)] })),
  hostile('10,000 certificates', 'unsupported', 'signature-unreadable', () =>
    programWith({ certificates: [signer.der, ...listed(10_000, () => signer.der)] }),
  ),
  hostile('95 issuers with RSA keys of 16,384 bits', 'untrusted', null, () =>
    manyIssuers(rsaPublicKey(16_384), bytesOf(16_384)),
  ),
  hostile('95 issuers whose RSA exponent has 3,064 bits', 'untrusted', null, () =>
    manyIssuers(rsaPublicKey(3072, 3064), bytesOf(3072)),
  ),
  hostile('190 issuers of one name for 32 timestamps', 'untrusted', 'work-budget-spent', manyIssuersOfTimestamps),
  hostile('14 authorities that all certified each other', 'untrusted', null, () => inMesh(14)),
  hostile('an RSA key of 65,536 bits', 'broken', 'signature-value-wrong', () =>
    programWith({ signer: { ...signer, der: signerWith({ publicKey: rsaPublicKey(65_536) }).der } }),
  ),
  tooLong('60,000 extensions', () => ({
    extensions: listed(60_000, (index) => extension(`1.2.3.${index}`, octetString(Buffer.alloc(1)))),
  })),
  unreadable('a name of 1,000 parts', () => ({
    subject: encode(0x30, ...listed(1000, (index) => relativeName(`N${index}`))),
  })),
  tooLong('a name of 3 MB that is eighteen times as long when it is compared', () => ({
    subject: name('\ufdfa'.repeat(1_000_000)),
  })),
  hostile('120 certificates with such names, each just short enough', 'untrusted', null, () => {
    const long = name('\ufdfa'.repeat(560));
    return programWith({ certificates: [signer.der, ...strangers(120, { subject: long, issuer: long })] });
  }),
  hostile('an object identifier with an arc of 440 bits', 'untrusted', null, () => {
    const identifier = encode(0x06, Buffer.alloc(62, 0xff), Uint8Array.of(1));
    return signedBy({ extensions: [CODE_SIGNING_PURPOSE, sequence(identifier, octetString(Buffer.alloc(1)))] });
  }),
  validity('from the year 0 to 9999', generalizedTime('00000101000000Z'), generalizedTime('99991231235959Z')),
  validity('on the 31st of February', utcTime('200231000000Z'), utcTime('450101000000Z')),
  validity('of no digits', utcTime(''), utcTime('')),
];
