/** Holds what `inspect` writes to its 80 columns, and to harmlessness: whatever names the file's certificates bear. */

import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certificatesPem, inspectJson, inspectText } from '../../../../src/cli/output/inspect.ts';
import { jsonText } from '../../../../src/cli/output/json.ts';
import { widthOf } from '../../../../src/cli/output/text-layout.ts';
import { inspectCertificates } from '../../../../src/verifying/inspect-certificates.ts';
import type { InspectedFile, InspectedSignature, InspectedTimestamp } from '../../../../src/verifying/inspect-file.ts';
import { issue, testKey } from '../../../support/signed-files/pki.ts';

const ESCAPE = '\u001b[31m';
const HOSTILE = `${ESCAPE}Evil\r\nSignature 9: \u202egnp.exe ${'w'.repeat(200)} 株式会社 ${'long '.repeat(40)}`;
const FORGED = 'x\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE----- y';

const timestamp: InspectedTimestamp = {
  kind: 'rfc3161',
  time: new Date('2026-11-20T20:10:48Z'),
  signer: HOSTILE,
  intact: false,
  algorithm: 'sha256',
  policy: { oid: '1.2.3.4.5', name: undefined },
  serialNumber: 'ab'.repeat(20),
  length: 6000,
  certificate: undefined,
  certificates: certificatesNamed('Authority'),
  findings: [{ code: 'a-code', message: HOSTILE, weight: 'untrusted' }],
};
const signature: InspectedSignature = {
  number: 1,
  place: HOSTILE,
  signer: HOSTILE,
  intact: false,
  algorithm: 'SHA256',
  details: [{ name: HOSTILE, value: HOSTILE }],
  kind: 'cms',
  length: 1,
  contentType: { oid: '1.2.840.113549.1.7.1', name: 'data' },
  signers: [
    {
      name: HOSTILE,
      issuer: HOSTILE,
      serialNumber: '01'.repeat(300),
      certificate: undefined,
      digestAlgorithm: { oid: '2.16.840.1.101.3.4.2.1', name: 'SHA-256' },
      signatureAlgorithm: { oid: '1.2.840.113549.1.1.1', name: 'RSA' },
      signature: new Uint8Array(256),
      signedAttributes: [
        {
          type: { oid: '1.2.840.113549.1.9.5', name: 'signingTime' },
          values: [{ text: HOSTILE, length: 9, bytes: Uint8Array.of(0xab) }],
        },
      ],
      unsignedAttributes: [
        { type: { oid: '1.2.3', name: undefined }, values: [{ text: undefined, length: 5000, bytes: undefined }] },
      ],
    },
  ],
  certificates: certificatesNamed(HOSTILE),
  timestamps: [timestamp],
  findings: [{ code: 'some-code', message: HOSTILE, weight: 'broken' }],
  nested: [],
};
const file: InspectedFile = {
  path: HOSTILE,
  format: 'pe',
  title: 'Windows PE',
  size: 1_234_567,
  layout: [{ name: 'certificate table', value: HOSTILE }],
  findings: [{ code: 'other-code', message: HOSTILE, weight: 'note' }],
  signatures: [{ ...signature, nested: [{ ...signature, number: 2 }] }],
};

/** A chain of ten, each the issuer of the one before. */
function certificatesNamed(name: string) {
  const chain = [issue({ commonName: `${name} 0`, key: testKey('rsa-2048', 'text'), ca: true })];
  for (let count = 1; count < 10; count += 1) {
    const [issuer] = chain;
    const key = testKey('rsa-2048', 'text');
    chain.unshift(issue({ commonName: `${name} ${count}`, key, ca: true, ...(issuer && { issuer }) }));
  }
  return inspectCertificates(
    chain.map(({ der }) => der),
    [],
  );
}

describe('the text', () => {
  const text = inspectText(file);
  const lines = text.split('\n');

  it('has no line longer than 80 columns', () => {
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
  });

  it('contains nothing that a terminal would interpret', () => {
    expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
    expect(text).toContain('\\x1b[31mEvil\\r\\n');
  });

  it('writes every count of bytes in the same way', () => {
    expect(lines).toContain('  size                  1234567 bytes');
    expect(text).toContain(' 5000 bytes');
    expect(text).not.toMatch(/\d,\d{3} bytes/);
  });

  it('has no line that a name could have forged', () => {
    expect(lines.filter((line) => line.startsWith('Signature '))).toHaveLength(2);
  });

  it('prints the severity and the code of each finding', () => {
    const joined = text.replace(/\n +/g, ' ');
    expect(joined).toMatch(/note: .*\[other-code\]/);
    expect(joined).toMatch(/broken: .*\[some-code\]/);
    expect(joined).toMatch(/untrusted: .*\[a-code\]/);
  });

  it('shows the dotted number of unnamed objects, and says that trust is not checked', () => {
    expect(text).toContain('1.2.3.4.5');
    expect(text).toContain('\nTrust is not checked here: use codesign-remote verify.\n');
  });
});

describe('the JSON document', () => {
  const text = jsonText(inspectJson(file));
  const document = JSON.parse(text);

  it('contains untrusted text completely and harmlessly', () => {
    expect(document.path).toBe(HOSTILE);
    expect(document.signatures[0].certificates[0].name).toBe(`${HOSTILE} 9`);
    expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
  });

  it('contains bytes in hexadecimal, times in ISO 8601, null for missing values, and no encoded certificates', () => {
    const [{ signers, timestamps, certificates }] = document.signatures;
    expect(signers[0].signature).toBe('00'.repeat(256));
    expect(signers[0].certificate).toBeNull();
    expect(signers[0].signedAttributes[0].values[0]).toEqual({ text: HOSTILE, length: 9, bytes: 'ab' });
    expect(timestamps[0]).toMatchObject({ time: '2026-11-20T20:10:48.000Z', policy: { oid: '1.2.3.4.5', name: null } });
    expect(certificates[0]).not.toHaveProperty('der');
  });
});

describe('the certificates as PEM', () => {
  it('appear once each, and no name can look like a certificate', () => {
    const certificates = certificatesNamed(FORGED);
    const pem = certificatesPem({ ...file, signatures: [{ ...signature, certificates, nested: [signature] }] });
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    const subjects = blocks.map((block) => new X509Certificate(block).fingerprint256);
    expect(new Set(subjects).size).toBe(30);
    expect(subjects).toHaveLength(30);
    expect(pem.split('-----BEGIN').length - 1).toBe(30);
    expect(pem).toMatch(
      /^subject=CN=x\\n- - -BEGIN CERTIFICATE- - -\\nAAAA\\n- - -END CERTIFICATE- - - y 9\nissuer=CN=x\\n/,
    );
  });
});
