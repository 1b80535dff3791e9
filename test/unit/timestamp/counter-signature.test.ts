/** The older timestamps of Authenticode, made by OpenSSL and as older authorities made them. */

import { constants, createHash, privateEncrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { octetString } from '../../../src/asn1/write.ts';
import type { Attribute } from '../../../src/cms/build-signed-data.ts';
import { readSignedDataFields } from '../../../src/cms/signed-data-fields.ts';
import { readCounterSignature } from '../../../src/timestamp/read-timestamps.ts';
import type { Timestamp } from '../../../src/timestamp/timestamp.ts';
import { flipped } from '../../support/flipped.ts';
import { signedByOpenssl } from '../../support/programs/openssl.ts';
import { makeTimestampPki } from '../../support/services/timestamp-pki.ts';
import { type IssuedCertificate, issue, testKey } from '../../support/signed-files/pki.ts';
import { buildCounterSignature, type CounterSignatureParts } from './support/build-counter-signature.ts';
import { signingTime, TIME_STAMPING, tokenSigner } from './support/build-token.ts';

const SIGNATURE = Buffer.from('signature');
/** Reads a countersignature on SIGNATURE that is put together from parts. */
const readBuilt = ({ signer = tokenSigner(), ...parts }: Built): Timestamp =>
  readCounterSignature(buildCounterSignature(SIGNATURE, signer, parts), SIGNATURE, [signer.der]);

interface Built extends CounterSignatureParts {
  readonly signer?: IssuedCertificate;
}

const findingsOf = ({ findings }: Timestamp): string[] => findings.map(({ code, weight }) => `${code} ${weight}`);
const findingsOfBuilt = (parts: Built): string[] => findingsOf(readBuilt(parts));

const { root, certificates } = makeTimestampPki();
const certificate = Buffer.from(certificates.tsa.der);
const built = buildCounterSignature(SIGNATURE, certificates.tsa, { digest: 'sha256' });

describe('a countersignature', () => {
  it('of OpenSSL is sound', () => {
    const { tsa } = certificates;
    const cms = signedByOpenssl(SIGNATURE, tsa, ['-nosmimecap']);
    const { bytes } = readSignedDataFields(cms).signers[0];
    const timestamp = readCounterSignature(bytes, SIGNATURE, [root.der, certificate]);
    const found = { signerName: 'Test Timestamp Authority', signerCertificate: certificate };
    expect(timestamp).toMatchObject({ kind: 'authenticode', bytes, algorithm: 'sha256', ...found, findings: [] });
    expect(timestamp.certificates).toHaveLength(2);
    expect(Math.abs((timestamp.time?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['sha1', 'warning'],
    ['md5', 'broken'],
  ] as const)('with %s is %s', (digest, weight) => {
    const timestamp = readBuilt({ digest });
    expect([timestamp.algorithm, findingsOf(timestamp)]).toEqual([digest, [`timestamp-algorithm-weak ${weight}`]]);
  });

  it('of another signature is detected', () => {
    const timestamp = readCounterSignature(built, Buffer.from('another'), [certificate]);
    expect(findingsOf(timestamp)).toEqual(['timestamp-other-signature broken']);
  });

  it('without its certificate says who it was by issuer and serial number', () => {
    const timestamp = readCounterSignature(built, SIGNATURE, []);
    expect(findingsOf(timestamp)).toEqual(['timestamp-without-certificate unsupported']);
    expect(timestamp.signerName).toContain('serial number 1001');
  });

  it.each([
    ['signer', ['timestamp-purpose untrusted']],
    ['uncritical', []],
    ['several', []],
  ] as const)('by a certificate with another purpose (%s) has the findings %j', (name, findings) => {
    expect(findingsOfBuilt({ signer: certificates[name], digest: 'sha256' })).toEqual(findings);
  });

  it('with any damage is detected, without an exception', () => {
    const cut = readCounterSignature(built.subarray(0, 67), SIGNATURE, [certificate]);
    const damagedCertificate = readCounterSignature(built, SIGNATURE, [Buffer.from('none')]);
    for (const one of [cut, damagedCertificate]) expect(findingsOf(one)).toEqual(['timestamp-unreadable broken']);
    const timestamp = readCounterSignature(flipped(built, -1), SIGNATURE, [certificate]);
    expect(findingsOf(timestamp)).toEqual(['timestamp-signature-wrong broken']);
  });
});

describe('the signing time', () => {
  const read = (...attributes: Attribute[]) => readBuilt({ digest: 'sha256', attributes });

  it.each([
    ['990101000000Z', 0x17, '1999-01-01T00:00:00.000Z'],
    ['20240601120000Z', 0x18, '2024-06-01T12:00:00.000Z'],
  ])('%s (type %i) is %s', (text, tag, expected) => {
    const timestamp = read(signingTime(text, tag));
    expect(timestamp.time?.toISOString()).toBe(expected);
    expect(findingsOf(timestamp)).toEqual([]);
  });

  it.each([
    ['missing', []],
    ['there twice', [signingTime('990101000000Z'), signingTime('990101000001Z')]],
    ['with an offset', [signingTime('990101000000+0100')]],
    ['of another type', [signingTime('990101000000Z', 0x0c)]],
  ])('is rejected: %s', (_what, attributes) => {
    const timestamp = read(...attributes);
    expect(timestamp.time).toBeUndefined();
    expect(findingsOf(timestamp)).toEqual(['timestamp-attributes-damaged broken']);
  });
});

const DATA = '1.2.840.113549.1.7.1';
const CT_TST_INFO = '1.2.840.113549.1.9.16.1.4';
const SHA1_RSA = '1.2.840.113549.1.1.5';
const OF_SHA1 = 'timestamp-algorithm-weak warning';
const WRONG = 'timestamp-signature-wrong broken';
const UNKNOWN = 'timestamp-algorithm-unknown unsupported';

const sha1 = (bytes: Uint8Array): Buffer => createHash('sha1').update(bytes).digest();
/** PKCS#1 v1.5 padding round what `content` gives. */
const padded =
  (content: (signed: Uint8Array) => Uint8Array, { privateKey: key }: IssuedCertificate = tokenSigner()) =>
  (signed: Uint8Array): Buffer =>
    privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, content(signed));
/** A block of 256 bytes: `start`, then 0xff up to `end`. */
const blockOf =
  (start: readonly number[], end: (digest: Buffer) => Buffer) =>
  (signed: Uint8Array): Buffer => {
    const rest = end(sha1(signed));
    const block = Buffer.concat([Buffer.from(start), Buffer.alloc(256 - start.length - rest.length, 0xff), rest]);
    return privateEncrypt({ key: tokenSigner().privateKey, padding: constants.RSA_NO_PADDING }, block);
  };
const withZero = (digest: Buffer): Buffer => Buffer.concat([Buffer.of(0), digest]);

describe('a countersignature with the bare SHA-1 value', () => {
  it('of the Symantec signer G4 is sound', () => {
    const pem = readFileSync(new URL('support/symantec-g4.pem', import.meta.url), 'latin1');
    const [value, bytes, signer] = (pem.match(/-----BEGIN [^-]+-----[^-]+/g) ?? []).map(derOf);
    if (value === undefined || bytes === undefined || signer === undefined) throw new Error('three blocks are needed');
    const timestamp = readCounterSignature(bytes, value, [signer]);
    expect(timestamp.signerName).toBe('Symantec Time Stamping Services Signer - G4');
    expect(timestamp.time?.toISOString()).toBe('2020-03-14T23:34:08.000Z');
    expect(findingsOf(timestamp)).toEqual([OF_SHA1]);
  });

  it('is sound under either name of the algorithm, with any accepted contentType', () => {
    expect(findingsOfBuilt({ signs: padded(sha1), signatureAlgorithm: SHA1_RSA })).toEqual([OF_SHA1]);
    expect(findingsOfBuilt({ signs: padded(sha1), contentTypes: [CT_TST_INFO] })).toEqual([OF_SHA1]);
    expect(findingsOfBuilt({ signs: blockOf([0, 1], withZero) })).toEqual([OF_SHA1]);
  });

  it.each<[string, Built['signs'] & object]>([
    ['of other attributes', padded(() => sha1(Buffer.from('other')))],
    ['one byte too short', padded((signed) => sha1(signed).subarray(0, 19))],
    ['with a byte after it', padded((signed) => Buffer.concat([sha1(signed), Buffer.of(0)]))],
    ['in an OCTET STRING', padded((signed) => octetString(sha1(signed)))],
    ['empty', padded(() => Buffer.alloc(0))],
    ['of SHA-256', padded((signed) => createHash('sha256').update(signed).digest())],
    ['in a block of type 2', blockOf([0, 2], withZero)],
    ['without the zero that ends the padding', blockOf([0, 1], (digest) => digest)],
    ['with a hole in the padding', blockOf([0, 1, 255, 254], withZero)],
    [
      'with short padding and bytes behind it',
      blockOf([0, 1], (digest) => Buffer.concat([withZero(digest), Buffer.alloc(200)])),
    ],
    ['one byte longer than the modulus', (signed) => Buffer.concat([Buffer.of(0), padded(sha1)(signed)])],
    ['above the modulus', () => Buffer.alloc(256, 0xff)],
    ['in the clear', (signed) => sha1(signed)],
  ])('is rejected: %s', (_name, signs) => {
    expect(findingsOfBuilt({ signs })).toEqual([WRONG, OF_SHA1]);
  });

  it('is rejected where the digest algorithm is not SHA-1', () => {
    const sha256 = (signed: Uint8Array) => createHash('sha256').update(signed).digest();
    expect(findingsOfBuilt({ digest: 'sha256', signs: padded(sha256) })).toEqual([WRONG]);
  });

  it('is rejected under an algorithm that is not PKCS#1 v1.5 with SHA-1, and under a key that is not RSA', () => {
    for (const [signatureAlgorithm, finding] of [
      ['1.2.840.113549.1.1.10', UNKNOWN],
      ['1.2.840.113549.1.1.11', WRONG],
      ['1.2.840.10045.4.1', WRONG],
      ['1.2.3', UNKNOWN],
    ] as const) {
      expect(findingsOfBuilt({ signs: padded(sha1), signatureAlgorithm })).toEqual([finding, OF_SHA1]);
    }
    const signer = issue({ commonName: 'EC TSA', key: testKey('ec', 'bare tsa'), purposes: [TIME_STAMPING] });
    expect(findingsOfBuilt({ signer, signs: padded(sha1, tokenSigner()) })).toEqual([WRONG, OF_SHA1]);
    expect(findingsOfBuilt({ signer, signs: sha1, signatureAlgorithm: '1.2.840.10045.4.1' })).toEqual([WRONG, OF_SHA1]);
  });
});

it.each<[string, readonly string[], readonly string[]]>([
  ['data', [DATA], []],
  ['TSTInfo, as Certum has it', [CT_TST_INFO], []],
  ['missing, as RFC 5652 has it', [], []],
  ['another one', ['1.2.3.4'], [WRONG]],
  ['there twice', [DATA, DATA], [WRONG]],
])('the contentType of a countersignature is %s', (_, contentTypes, findings) => {
  expect(findingsOfBuilt({ contentTypes, digest: 'sha256' })).toEqual(findings);
});

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}
