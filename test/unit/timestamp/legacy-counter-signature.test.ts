/** Countersignatures of older authorities: a bare SHA-1 value in place of DigestInfo, another contentType, or none. */

import { constants, createHash, privateEncrypt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { octetString, sequence } from '../../../src/asn1/write.ts';
import { readCounterSignature } from '../../../src/timestamp/read-counter-signature.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { type IssuedCertificate, issue, testKey } from '../../support/signed-files/pki.ts';
import { buildCounterSignature, type CounterSignatureParts } from './support/build-counter-signature.ts';
import { TIME_STAMPING, tokenSigner } from './support/build-token.ts';
import * as symantec from './support/symantec-g4.ts';

const VALUE = Buffer.from('signature');
const DATA = '1.2.840.113549.1.7.1';
const CT_TST_INFO = '1.2.840.113549.1.9.16.1.4';
const SHA1_RSA = '1.2.840.113549.1.1.5';
const OF_SHA1 = 'timestamp-algorithm-weak warning';
const WRONG = 'timestamp-signature-wrong broken';
const UNKNOWN = 'timestamp-algorithm-unknown unsupported';

interface Options extends CounterSignatureParts {
  readonly signer?: IssuedCertificate;
}

/** The findings of a countersignature on VALUE. */
function findingsOf({ signer = tokenSigner(), ...parts }: Options): string[] {
  const { findings } = readCounterSignature(buildCounterSignature(VALUE, signer, parts), VALUE, [signer.der]);
  return findings.map(({ code, weight }) => `${code} ${weight}`);
}

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
    const { COUNTER_SIGNATURE, SIGNATURE_VALUE, CERTIFICATE } = symantec;
    const timestamp = readCounterSignature(COUNTER_SIGNATURE, SIGNATURE_VALUE, [CERTIFICATE]);
    expect(timestamp.signerName).toBe('Symantec Time Stamping Services Signer - G4');
    expect(timestamp.time?.toISOString()).toBe('2020-03-14T23:34:08.000Z');
    expect(timestamp.findings.map(({ code, weight }) => `${code} ${weight}`)).toEqual([OF_SHA1]);
    const other = readCounterSignature(COUNTER_SIGNATURE, Buffer.from('other'), [CERTIFICATE]);
    expect(other.findings.map(({ code }) => code)).toContain('timestamp-other-signature');
  });

  it('by OpenSSL is sound', () => {
    const key = tokenSigner().privateKey.export({ type: 'pkcs8', format: 'pem' });
    const command = ['pkeyutl', '-sign', '-inkey', 'key', '-in', 'digest', '-pkeyopt', 'rsa_padding_mode:pkcs1'];
    const signs = (signed: Uint8Array) => openssl(command, { key, digest: sha1(signed) });
    expect(findingsOf({ signs })).toEqual([OF_SHA1]);
  });

  it('is sound under either name of the algorithm, with any accepted contentType', () => {
    expect(findingsOf({ signs: padded(sha1), signatureAlgorithm: SHA1_RSA })).toEqual([OF_SHA1]);
    expect(findingsOf({ signs: padded(sha1), contentTypes: [] })).toEqual([OF_SHA1]);
    expect(findingsOf({ signs: padded(sha1), contentTypes: [CT_TST_INFO] })).toEqual([OF_SHA1]);
    expect(findingsOf({ signs: blockOf([0, 1], withZero) })).toEqual([OF_SHA1]);
  });

  it.each<[string, Options['signs'] & object]>([
    ['of other attributes', padded(() => sha1(Buffer.from('other')))],
    ['of the content', padded(() => sha1(VALUE))],
    ['one byte too short', padded((signed) => sha1(signed).subarray(0, 19))],
    ['without its first byte', padded((signed) => sha1(signed).subarray(1))],
    ['with a byte behind it', padded((signed) => Buffer.concat([sha1(signed), Buffer.of(0)]))],
    ['with a zero in front', padded((signed) => Buffer.concat([Buffer.of(0), sha1(signed)]))],
    ['in an OCTET STRING', padded((signed) => octetString(sha1(signed)))],
    ['in a SEQUENCE', padded((signed) => sequence(octetString(sha1(signed))))],
    ['in hexadecimal', padded((signed) => Buffer.from(sha1(signed).toString('hex')))],
    ['empty', padded(() => Buffer.alloc(0))],
    [
      'of the attributes under their tag [0]',
      padded((signed) => sha1(Buffer.concat([Buffer.of(0xa0), signed.subarray(1)]))),
    ],
    ['of SHA-256', padded((signed) => createHash('sha256').update(signed).digest())],
    ['of MD5', padded((signed) => createHash('md5').update(signed).digest())],
    ['in a block of type 0', blockOf([0, 0], withZero)],
    ['in a block of type 2', blockOf([0, 2], withZero)],
    ['in a block that begins with 1', blockOf([1, 1], withZero)],
    ['without the zero that ends the padding', blockOf([0, 1], (digest) => digest)],
    ['with a hole in the padding', blockOf([0, 1, 255, 254], withZero)],
    [
      'with short padding and bytes behind it',
      blockOf([0, 1], (digest) => Buffer.concat([withZero(digest), Buffer.alloc(200)])),
    ],
    ['one byte longer than the modulus', (signed) => Buffer.concat([Buffer.of(0), padded(sha1)(signed)])],
    ['cut by one byte', (signed) => padded(sha1)(signed).subarray(1)],
    ['above the modulus', () => Buffer.alloc(256, 0xff)],
    ['in the clear', (signed) => sha1(signed)],
  ])('is rejected: %s', (_name, signs) => {
    expect(findingsOf({ signs })).toEqual([WRONG, OF_SHA1]);
  });

  it('is rejected where the digest algorithm is not SHA-1', () => {
    expect(findingsOf({ digest: 'sha256', signs: padded(sha1) })).toEqual([WRONG]);
    const sha256 = (signed: Uint8Array) => createHash('sha256').update(signed).digest();
    expect(findingsOf({ digest: 'sha256', signs: padded(sha256) })).toEqual([WRONG]);
  });

  it('is rejected under an algorithm that is not PKCS#1 v1.5 with SHA-1, and under a key that is not RSA', () => {
    for (const [signatureAlgorithm, finding] of [
      ['1.2.840.113549.1.1.10', UNKNOWN],
      ['1.2.840.113549.1.1.11', WRONG],
      ['1.2.840.10045.4.1', WRONG],
      ['1.2.3', UNKNOWN],
    ] as const) {
      expect(findingsOf({ signs: padded(sha1), signatureAlgorithm })).toEqual([finding, OF_SHA1]);
    }
    const signer = issue({ commonName: 'EC TSA', key: testKey('ec', 'bare tsa'), purposes: [TIME_STAMPING] });
    expect(findingsOf({ signer, signs: padded(sha1, tokenSigner()) })).toEqual([WRONG, OF_SHA1]);
    expect(findingsOf({ signer, signs: sha1, signatureAlgorithm: '1.2.840.10045.4.1' })).toEqual([WRONG, OF_SHA1]);
  });
});

describe('the contentType of a countersignature', () => {
  it('is data, TSTInfo as Certum has it, or missing as RFC 5652 has it', () => {
    for (const contentTypes of [[DATA], [CT_TST_INFO], []]) {
      expect(findingsOf({ contentTypes, digest: 'sha256' })).toEqual([]);
      expect(findingsOf({ contentTypes, digest: 'sha512' })).toEqual([]);
    }
  });

  it('is rejected when it is another one, or there twice', () => {
    const both = [DATA, CT_TST_INFO];
    for (const contentTypes of [['1.2.3.4'], ['1.3.6.1.4.1.311.2.1.4'], both, [DATA, DATA], [CT_TST_INFO, '1.2.3.4']]) {
      expect(findingsOf({ contentTypes, digest: 'sha256' })).toEqual([WRONG]);
    }
  });
});
