/** What is read from the older timestamps of Authenticode, made by OpenSSL, and what is found wrong with bad ones. */

import { createHash, sign } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { encode, nullValue, objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { readCertificateFields } from '../../../src/certificates/certificate.ts';
import { type Attribute, buildSignedAttributes, digestAlgorithm } from '../../../src/cms/build-signed-data.ts';
import { readCounterSignature } from '../../../src/timestamp/read-counter-signature.ts';
import type { Timestamp } from '../../../src/timestamp/timestamp.ts';
import { startTimestampAuthority } from '../../support/services/timestamp-authority.ts';
import { signingTime, tokenSigner } from './support/build-token.ts';

const SIGNATURE = Buffer.from('signature');
const findingsOf = ({ findings }: Timestamp): string[] => findings.map(({ code, weight }) => `${code} ${weight}`);

const authority = await startTimestampAuthority();
const certificate = derOf(authority.certificatePem);
afterAll(() => authority.stop());

describe('a countersignature of OpenSSL', () => {
  it('is sound', async () => {
    const bytes = await authority.counterSign(SIGNATURE);
    const timestamp = readCounterSignature(bytes, SIGNATURE, [derOf(authority.rootPem), certificate]);
    expect(timestamp).toMatchObject({
      kind: 'authenticode',
      bytes,
      algorithm: 'sha256',
      policy: undefined,
      serialNumber: undefined,
      signerName: 'Test Timestamp Authority',
      signerCertificate: certificate,
      findings: [],
    });
    expect(timestamp.certificates).toHaveLength(2);
    expect(Math.abs((timestamp.time?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['sha1', 'warning'],
    ['md5', 'broken'],
  ] as const)('with %s is %s', async (algorithm, weight) => {
    const bytes = await authority.counterSign(SIGNATURE, { algorithm });
    const timestamp = readCounterSignature(bytes, SIGNATURE, [certificate]);
    expect(timestamp.algorithm).toBe(algorithm);
    expect(findingsOf(timestamp)).toEqual([`timestamp-algorithm-weak ${weight}`]);
  });

  it('of another signature is detected', async () => {
    const bytes = await authority.counterSign(SIGNATURE);
    const timestamp = readCounterSignature(bytes, Buffer.from('another'), [certificate]);
    expect(findingsOf(timestamp)).toEqual(['timestamp-other-signature broken']);
  });

  it('without its certificate says who it was by issuer and serial number', async () => {
    const timestamp = readCounterSignature(await authority.counterSign(SIGNATURE), SIGNATURE, []);
    expect(findingsOf(timestamp)).toEqual(['timestamp-without-certificate unsupported']);
    expect(timestamp.signerName).toContain('serial number 1001');
  });

  it('by a certificate for code signing is none of an authority', async () => {
    const bytes = await authority.counterSign(SIGNATURE, { certificate: 'signer' });
    const signer = derOf(authority.certificatePemOf('signer'));
    expect(findingsOf(readCounterSignature(bytes, SIGNATURE, [signer]))).toEqual(['timestamp-purpose untrusted']);
  });

  it('by a certificate for timestamps and more, not critical, is as Authenticode wants it', async () => {
    for (const name of ['uncritical', 'several'] as const) {
      const bytes = await authority.counterSign(SIGNATURE, { certificate: name });
      const signer = derOf(authority.certificatePemOf(name));
      expect(findingsOf(readCounterSignature(bytes, SIGNATURE, [signer]))).toEqual([]);
    }
  });

  it('damaged anywhere is found out and never thrown at', async () => {
    const bytes = await authority.counterSign(SIGNATURE);
    for (let length = 0; length < bytes.length; length += 67) {
      const timestamp = readCounterSignature(bytes.subarray(0, length), SIGNATURE, [certificate]);
      expect(findingsOf(timestamp)).toEqual(['timestamp-unreadable broken']);
    }
    const corrupt = Buffer.from(bytes);
    corrupt.writeUInt8(corrupt.readUInt8(corrupt.length - 1) ^ 1, corrupt.length - 1);
    const timestamp = readCounterSignature(corrupt, SIGNATURE, [certificate]);
    expect(findingsOf(timestamp)).toEqual(['timestamp-signature-wrong broken']);
  });

  it('is unreadable if a certificate of the signature is damaged', async () => {
    const bytes = await authority.counterSign(SIGNATURE);
    const findings = findingsOf(readCounterSignature(bytes, SIGNATURE, [Buffer.from('no certificate')]));
    expect(findings).toEqual(['timestamp-unreadable broken']);
  });
});

describe('the signing time', () => {
  const read = (...attributes: Attribute[]) =>
    readCounterSignature(buildCounterSignature(attributes), SIGNATURE, [tokenSigner().der]);

  it.each([
    ['990101000000Z', 0x17, '1999-01-01T00:00:00.000Z'],
    ['500101000000Z', 0x17, '1950-01-01T00:00:00.000Z'],
    ['491231235959Z', 0x17, '2049-12-31T23:59:59.000Z'],
    ['20240601120000Z', 0x18, '2024-06-01T12:00:00.000Z'],
  ])('%s (type %i) is %s', (text, tag, expected) => {
    const timestamp = read(signingTime(text, tag));
    expect(timestamp.time?.toISOString()).toBe(expected);
    expect(findingsOf(timestamp)).toEqual([]);
  });

  it.each([
    ['missing', []],
    ['there twice', [signingTime('990101000000Z'), signingTime('990101000001Z')]],
    ['without seconds', [signingTime('9901010000Z')]],
    ['local', [signingTime('990101000000')]],
    ['with an offset', [signingTime('990101000000+0100')]],
    ['of no month', [signingTime('991301000000Z')]],
    ['of the wrong length for its type', [signingTime('20240601120000Z', 0x17)]],
    ['of another type', [signingTime('990101000000Z', 0x0c)]],
  ])('is rejected: %s', (_what, attributes) => {
    const timestamp = read(...attributes);
    expect(timestamp.time).toBeUndefined();
    expect(findingsOf(timestamp)).toEqual(['timestamp-attributes-damaged broken']);
  });
});

it('over no attributes has no time, and so is no timestamp', () => {
  const { der, privateKey } = tokenSigner();
  const bytes = signerInfo(der, [], sign('sha256', SIGNATURE, privateKey));
  expect(findingsOf(readCounterSignature(bytes, SIGNATURE, [der]))).toEqual(['timestamp-attributes-damaged broken']);
});

it('of content that is not data is rejected', () => {
  const { der, privateKey } = tokenSigner();
  const digest = createHash('sha256').update(SIGNATURE).digest();
  const set = buildSignedAttributes('1.2.3.4', digest, [signingTime('990101000000Z')]);
  const attributes = encode(0xa0, set.subarray(2));
  const bytes = signerInfo(der, [attributes], sign('sha256', set, privateKey));
  expect(findingsOf(readCounterSignature(bytes, SIGNATURE, [der]))).toEqual(['timestamp-signature-wrong broken']);
});

function buildCounterSignature(more: readonly Attribute[]): Uint8Array {
  const { der, privateKey } = tokenSigner();
  const digest = createHash('sha256').update(SIGNATURE).digest();
  const set = buildSignedAttributes('1.2.840.113549.1.7.1', digest, more);
  const headerLength = (set[1] ?? 0) < 0x80 ? 2 : 3;
  return signerInfo(der, [encode(0xa0, set.subarray(headerLength))], sign('sha256', set, privateKey));
}

function signerInfo(der: Uint8Array, attributes: readonly Uint8Array[], signature: Uint8Array): Uint8Array {
  const { issuer, serialNumber } = readCertificateFields(der);
  const rsa = sequence(objectIdentifier('1.2.840.113549.1.1.1'), nullValue());
  return sequence(
    smallInteger(1),
    sequence(issuer, serialNumber),
    digestAlgorithm('SHA256'),
    ...attributes,
    rsa,
    octetString(signature),
  );
}

function derOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
}
