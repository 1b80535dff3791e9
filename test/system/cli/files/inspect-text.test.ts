/** Holds what `inspect` writes to its 80 columns, and to harmlessness: whatever text is in the file. */

import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { composeReading } from '../../../../src/app/compose-local.ts';
import { certificatesPem, inspectJson, inspectText } from '../../../../src/cli/output/inspect.ts';
import { jsonText } from '../../../../src/cli/output/json.ts';
import { widthOf } from '../../../../src/cli/output/text-layout.ts';
import type { Finding } from '../../../../src/errors/finding.ts';
import { inspectCertificates } from '../../../../src/verifying/inspect-certificates.ts';
import { type InspectedFile, type InspectedTimestamp, inspectFile } from '../../../../src/verifying/inspect-file.ts';
import { fixture } from '../../../support/programs/cli.ts';
import { issue, testKey } from '../../../support/signed-files/pki.ts';

const ESCAPE = '\u001b[31m';
const HOSTILE = `${ESCAPE}Evil\r\nSignature 9: \u202egnp.exe ${'w'.repeat(200)} 株式会社 ${'long '.repeat(40)}`;
const FORGED = 'x\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE----- y';

/** Members of our own words, of digits, and of what OpenSSL says of a key. */
const OURS = 'kind weight code oid format title algorithm sha256 sha1 serialNumber keyUsage publicKey'.split(' ');

/** The same with hostile text in place of all text that comes from the file. */
function hostile<Value>(value: Value): Value {
  if (typeof value === 'string') return HOSTILE as Value;
  if (Array.isArray(value)) return value.map(hostile) as Value;
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Uint8Array) return value;
  if ('oid' in value) return value;
  const members = Object.entries(value).map(([name, one]) => [name, OURS.includes(name) ? one : hostile(one)]);
  return Object.fromEntries(members);
}

const finding = (weight: Finding['weight']): Finding => ({ code: `${weight}-code`, message: HOSTILE, weight });
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
  findings: [finding('untrusted')],
};
const inspected = hostile(await inspectFile(fixture('golden/appended.exe'), composeReading()));
const signatures = inspected.signatures.map((signature) => ({
  ...signature,
  certificates: certificatesNamed(HOSTILE),
  timestamps: [timestamp],
  findings: [finding('broken')],
}));
const file: InspectedFile = { ...inspected, findings: [finding('note')], signatures };

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

  it('has no line longer than 80 columns, and none that a name could have forged', () => {
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('Signature '))).toHaveLength(2);
  });

  it('contains nothing that a terminal would interpret', () => {
    expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
    expect(text).toContain('\\x1b[31mEvil\\r\\n');
  });

  it('prints the severity and the code of each finding, and the dotted number of unnamed objects', () => {
    const joined = text.replace(/\n +/g, ' ');
    for (const weight of ['note', 'broken', 'untrusted'])
      expect(joined).toMatch(new RegExp(`${weight}: .*\\[${weight}-code\\]`));
    expect(text).toContain('1.2.3.4.5');
  });
});

it('the JSON document contains untrusted text completely and harmlessly, and no encoded certificates', () => {
  const text = jsonText(inspectJson(file));
  const { path, signatures: shown } = JSON.parse(text);
  const [{ certificates, timestamps }] = shown;
  expect([path, certificates[0].name]).toEqual([HOSTILE, `${HOSTILE} 9`]);
  expect(text).not.toMatch(/[^\n\P{Cc}]|\p{Bidi_Control}/u);
  expect(timestamps[0]).toMatchObject({ time: '2026-11-20T20:10:48.000Z', policy: { oid: '1.2.3.4.5', name: null } });
  expect(certificates[0]).not.toHaveProperty('der');
});

it('the certificates as PEM appear once each, and no name can look like a certificate', () => {
  const [signature] = signatures;
  if (signature === undefined) throw new Error('the file is unsigned');
  const certificates = certificatesNamed(FORGED);
  const pem = certificatesPem({
    ...file,
    signatures: [{ ...signature, certificates, nested: [signature, signature] }],
  });
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const found = new Set(blocks.map((block) => new X509Certificate(block).fingerprint256));
  const inner = signature.nested.flatMap((nested) => nested.certificates);
  expect([blocks.length, pem.split('-----BEGIN').length - 1]).toEqual([found.size, found.size]);
  expect(found.size).toBe(30 + new Set(inner.map(({ sha256 }) => sha256)).size);
  expect(pem).toMatch(
    /^subject=CN=x\\n- - -BEGIN CERTIFICATE- - -\\nAAAA\\n- - -END CERTIFICATE- - - y 9\nissuer=CN=x\\n/,
  );
});
