/** Reading the signing chain: every order, every container, every certificate that cannot sign. */

import { describe, expect, it } from 'vitest';
import { CODE_SIGNING, EMAIL_PROTECTION, REMOTE_DESKTOP } from '../../../src/asn1/object-identifiers.ts';
import { onlyPart, parts, readElement } from '../../../src/asn1/read.ts';
import { contextConstructed, octetString, sequence } from '../../../src/asn1/write.ts';
import { parseCertificate } from '../../../src/certificates/certificate.ts';
import type { Purpose } from '../../../src/certificates/purpose.ts';
import { checkPurpose, purposeWarnings, readSigningChain } from '../../../src/certificates/signing-chain.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { openssl } from '../../support/programs/openssl.ts';
import {
  ANY_PURPOSE,
  type IssuedCertificate,
  issue,
  makePki,
  pemBlock,
  SERVER_AUTH,
  testKey,
  toP7b,
  toP12,
} from '../../support/signed-files/pki.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const pki = makePki();
const leaf = pki.leaf();
const WHOLE = [leaf, pki.intermediate, pki.root];
const WHOLE_NAMES = ['Test Publisher', 'Test Code Signing CA', 'Test Root'];

type Contents = string | Uint8Array;

const read = (contents: Contents | readonly Contents[], password?: string) =>
  readSigningChain(
    (Array.isArray(contents) ? contents : [contents]).map((part: Contents, index) => ({
      name: `file ${index}`,
      bytes: typeof part === 'string' ? Buffer.from(part) : part,
    })),
    { now: NOW, password: password === undefined ? undefined : new Secret(password), purposes: ['code-signing'] },
  );
const pem = (...certificates: readonly IssuedCertificate[]) => certificates.map((one) => one.pem).join('');
const names = async (...given: Parameters<typeof read>) => (await read(...given)).certificates.map(({ name }) => name);
const refusal = (...given: Parameters<typeof read>) =>
  read(...given).then(
    () => 'accepted',
    (error: { code: string }) => error.code,
  );

describe('the chain', () => {
  it('is sorted from leaf to root, whatever the order', async () => {
    const chain = await read(WHOLE.toReversed().map((one) => one.pem));
    expect(chain.certificates.map(({ name }) => name)).toEqual(WHOLE_NAMES);
    expect(chain.certificates.map(({ der }) => Buffer.from(der))).toEqual(WHOLE.map(({ der }) => Buffer.from(der)));
    expect(chain).toMatchObject({ leaf: { name: 'Test Publisher' }, warnings: [] });
  });

  const other = makePki('Other');
  const lower = issue({ commonName: 'Lower CA', issuer: pki.intermediate, key: testKey('ec', 'lower'), ca: true });
  const namesake = issue({ commonName: 'Test Code Signing CA', key: testKey('ec', 'namesake'), ca: true });
  const server = pki.leaf({ commonName: 'Server', purposes: [SERVER_AUTH], key: testKey('rsa-2048', 'root') });
  const WITHOUT_ROOT = WHOLE_NAMES.slice(0, 2);

  it.each<[string, Contents | readonly Contents[], readonly string[], readonly string[]]>([
    ['several files', [pki.root.der, pem(pki.intermediate), toP7b([leaf.der])], WHOLE_NAMES, []],
    ['a certificate twice', [pem(leaf, leaf, pki.intermediate), leaf.der], WITHOUT_ROOT, []],
    ['a leaf alone', leaf.pem, ['Test Publisher'], ['issuer-not-given']],
    ['a gap', pem(pki.root, pki.leaf({ issuer: lower }), lower), ['Test Publisher', 'Lower CA'], ['gap', 'Test Root']],
    ['another root', pem(other.root, ...WHOLE), WHOLE_NAMES, ['Other Root']],
    ['an issuer that has the name but did not sign', pem(namesake, leaf), ['Test Publisher'], ['gap|given', 'unused']],
    ['both issuers of a name', pem(namesake, ...WHOLE), WHOLE_NAMES, ['unused']],
    ['a certificate for servers', pem(server, leaf, pki.intermediate), WITHOUT_ROOT, ['unused']],
  ])('is read from %s', async (_what, contents, expected, warnings) => {
    const chain = await read(contents);
    expect(chain.certificates.map(({ name }) => name)).toEqual(expected);
    expect(chain.warnings).toEqual(warnings.map((words) => expect.stringMatching(words)));
  });

  it('finds an issuer whose name is encoded in another way', async () => {
    const root = issue({ commonName: 'Mixed  CA', key: testKey('ec', 'mixed'), ca: true });
    const asNamed = issue({ commonName: 'mixed ca', key: testKey('ec', 'mixed'), ca: true, nameTag: 0x13 });
    expect(await names(pem(asNamed, pki.leaf({ issuer: root })))).toEqual(['Test Publisher', 'mixed ca']);
  });

  it('prefers the renewed certificate of an issuer to the expired one', async () => {
    const [key, notAfter] = [testKey('rsa-2048', 'intermediate'), new Date('2025-01-01')];
    const expired = issue({ commonName: 'Test Code Signing CA', issuer: pki.root, key, ca: true, notAfter });
    const { certificates, warnings } = await read(pem(expired, ...WHOLE));
    expect(Buffer.from(certificates[1]?.der ?? [])).toEqual(Buffer.from(pki.intermediate.der));
    expect(warnings).toEqual([expect.stringContaining('[certificates-unused]')]);
    expect((await read(pem(expired, leaf))).warnings).toEqual([expect.stringContaining('expired on 2025-01-01')]);
  });

  it.each([false, true])('is a self-signed certificate alone, marked as an authority: %s', async (ca) => {
    const alone = issue({ commonName: 'Self', key: testKey('rsa-2048'), ca, keyUsage: ['digitalSignature'] });
    expect(await read(alone.pem)).toMatchObject({ certificates: [{ name: 'Self' }], withoutRoot: [{ name: 'Self' }] });
  });

  it('is embedded without its root: an authority with the name of its issuer is not a root', async () => {
    const key = (name: string) => testKey('rsa-2048', name);
    const root = issue({ commonName: 'Same CA', key: key('same root'), ca: true });
    const intermediate = issue({ commonName: 'Same CA', issuer: root, key: key('same intermediate'), ca: true });
    const chain = await read(pem(pki.leaf({ issuer: intermediate }), intermediate, root));
    expect(chain.certificates).toHaveLength(3);
    expect(chain.withoutRoot).toEqual(chain.certificates.slice(0, 2));
  });

  it('does not choose between two that could sign', async () => {
    const rival = pki.leaf({ commonName: 'Rival', key: testKey('rsa-2048', 'root') });
    expect(await refusal(pem(leaf, rival, pki.intermediate))).toBe('certificate-leaf-ambiguous');
  });
});

const made = (command: string, file: string) => openssl([...command.split(' '), 'a.pem'], { 'a.pem': file });

it.each<[string, Contents, (readonly string[])?]>([
  ['PEM with other blocks and text between', `Bag Attributes\n${pemBlock('X509 CRL', leaf.der)}${pem(...WHOLE)}\ntext`],
  ['PEM that also holds the key', leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }) + pem(...WHOLE)],
  ['PEM with a key encrypted in the old way', `${oldEncryptedKey()}${pem(...WHOLE)}`],
  ['PEM with CRLF and a UTF-8 mark', `\ufeff${pem(...WHOLE).replaceAll('\n', '\r\n')}`],
  ['PEM in UTF-16', Buffer.from(`\ufeff${pem(...WHOLE)}`, 'utf16le')],
  ['PKCS#7 as DER', made('crl2pkcs7 -nocrl -outform DER -certfile', pem(...WHOLE))],
  ['PKCS#7 as PEM', made('crl2pkcs7 -nocrl -outform PEM -certfile', pem(...WHOLE))],
  ['TRUSTED CERTIFICATE', made('x509 -trustout -addtrust codeSigning -in', leaf.pem), ['Test Publisher']],
])('containers are read: %s', async (_name, contents, expected = WHOLE_NAMES) => {
  expect(await names(contents)).toEqual(expected);
});

describe('PKCS#12', () => {
  const PASSWORD = 'correct horse';
  const make = (...args: readonly string[]) =>
    openssl(['pkcs12', '-export', '-in', 'chain.pem', '-inkey', 'leaf.key', '-passout', `pass:${PASSWORD}`, ...args], {
      'chain.pem': pem(...WHOLE),
      'leaf.key': leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    });

  it.each([
    ['modern: PBES2 with AES-256', []],
    ['legacy: RC2-40 and 3DES', ['-legacy']],
    ['AES-128 with a MAC of SHA-512', ['-certpbe', 'AES-128-CBC', '-macalg', 'sha512']],
    ['without a MAC', ['-nomac', '-certpbe', 'AES-256-CBC']],
  ])('of openssl is read (%s), and refused without or with a wrong password', async (_name, args) => {
    const file = make(...args);
    expect(await names(file, PASSWORD)).toEqual(WHOLE_NAMES);
    expect(await refusal(file)).toBe('certificate-password-missing');
    for (const wrong of ['wrong', '', `${PASSWORD} `]) {
      expect(await refusal(file, wrong)).toBe('certificate-password-wrong');
    }
  });

  it.each<[string, Uint8Array, string?]>([
    ['only the key is encrypted', make('-certpbe', 'NONE')],
    ['its password is empty, in the old way', make('-legacy', '-passout', 'pass:')],
    ['its password is beyond ASCII', make('-passout', 'pass:pässwörd€'), 'pässwörd€'],
    ['its password is beyond ASCII, in the old way', make('-legacy', '-passout', 'pass:pässwörd€'), 'pässwörd€'],
    ['node-forge wrote it with 3DES', toP12(WHOLE, 'x', '3des'), 'x'],
    ['node-forge wrote it with AES', toP12(WHOLE, 'x', 'aes256'), 'x'],
  ])('is read if %s', async (_name, file, password) => {
    expect(await names(file, password)).toEqual(WHOLE_NAMES);
  });

  const iterated = (count: number) => make('-iter', `${count}`, '-nomac', '-nokeys', '-certpbe', 'AES-256-CBC');
  /** With another number of iterations than 11, as an INTEGER of one byte. */
  const patched = (integer: string) => {
    const file = iterated(11);
    file.write(integer, file.indexOf('02010b', 'hex'), 'hex');
    return file;
  };

  it.each([
    ['600,001', iterated(600_001)],
    ['0', patched('020100')],
    ['-1', patched('0201ff')],
    ['3 × 200,001', tripled(iterated(200_001))],
  ])('is rejected, not computed, with %s iterations', async (_name, file) => {
    expect(await refusal(file, PASSWORD)).toBe('certificate-encryption-unsupported');
  });

  it('may have several parts', async () => {
    expect(await names(tripled(iterated(11)), PASSWORD)).toEqual(WHOLE_NAMES);
  });
});

describe('a certificate that cannot sign is rejected', () => {
  it.each<[string, string, () => IssuedCertificate]>([
    ['EC key', 'certificate-not-rsa', () => pki.leaf({ key: testKey('ec') })],
    ['RSA key of 1024 bits', 'certificate-key-size', () => pki.leaf({ key: testKey('rsa-1024') })],
    ['expired', 'certificate-expired', () => pki.leaf({ notAfter: new Date('2025-12-31T23:59:59Z') })],
    ['not yet valid', 'certificate-not-yet-valid', () => pki.leaf({ notBefore: new Date('2026-01-01T00:00:01Z') })],
    ['for TLS', 'certificate-not-for-code-signing', () => pki.leaf({ purposes: [SERVER_AUTH] })],
    ['not for signatures', 'certificate-not-for-code-signing', () => pki.leaf({ keyUsage: ['keyEncipherment'] })],
    ['an authority', 'certificate-not-for-code-signing', () => pki.intermediate],
  ])('%s: %s', async (_name, code, make) => {
    expect(await refusal(pem(make(), pki.root))).toBe(code);
  });

  it.each([
    ['later today', '2026-01-01T00:00:01Z', '2026-01-01T00:00:01Z'],
    ['on another day', '2026-01-02T00:00:01Z', '2026-01-02'],
  ])('with the time if it is valid %s', async (_name, day, said) => {
    const message = expect.stringMatching(`before ${said}$`);
    const early = pki.leaf({ notBefore: new Date(day) });
    await expect(read(pem(early, pki.root))).rejects.toMatchObject({ message });
  });

  it.each<[string, () => IssuedCertificate, number]>([
    ['in its first second', () => pki.leaf({ notBefore: NOW }), 0],
    ['in its last second, with a warning', () => pki.leaf({ notAfter: NOW }), 1],
    ['in its last 30 days, with a warning', () => pki.leaf({ notAfter: new Date('2026-01-30') }), 1],
    ['before its last 30 days', () => pki.leaf({ notAfter: new Date('2026-02-01') }), 0],
    ['for any purpose', () => pki.leaf({ purposes: [ANY_PURPOSE] }), 0],
    ['without a purpose, with a warning', () => pki.leaf({ purposes: [] }), 1],
    ['without keyUsage', () => pki.leaf({ keyUsage: [] }), 0],
  ])('but not one that can: %s', async (_name, make, warnings) => {
    expect((await read(pem(make(), pki.intermediate))).warnings).toHaveLength(warnings);
  });
});

describe('a certificate for documents or connection files', () => {
  const DOCUMENTS = ['1.3.6.1.5.5.7.3.36', '1.3.6.1.4.1.311.10.3.12', '1.2.840.113583.1.1.5', EMAIL_PROTECTION];
  const CONNECTIONS = [SERVER_AUTH, CODE_SIGNING, REMOTE_DESKTOP];
  const NO_SIGNATURE = ['contentCommitment'] as const;
  const warningsOf = (purpose: Purpose, options: Parameters<typeof pki.leaf>[0]) => {
    const certificate = parseCertificate(pki.leaf(options).der, 'it');
    checkPurpose(certificate, [purpose]);
    return purposeWarnings(certificate, purpose);
  };

  it('can be for each purpose of these, for any and for none', () => {
    const any = [[ANY_PURPOSE], [], [CODE_SIGNING, ...DOCUMENTS.slice(0, 1)]];
    for (const purposes of [...any, ...DOCUMENTS.map((one) => [one])]) {
      expect([purposes, warningsOf('document-signing', { purposes })]).toEqual([purposes, []]);
    }
    for (const purposes of [...any, ...CONNECTIONS.map((one) => [one])]) warningsOf('remote-desktop', { purposes });
  });

  it.each<[Purpose, Parameters<typeof pki.leaf>[0], RegExp]>([
    ['remote-desktop', { purposes: [EMAIL_PROTECTION] }, /lacks codeSigning, serverAuth and remoteDesktop/],
    ['document-signing', { purposes: [SERVER_AUTH] }, /lacks documentSigning and emailProtection/],
    ['code-signing', { purposes: [CODE_SIGNING], keyUsage: [...NO_SIGNATURE] }, /lacks digitalSignature/],
  ])('cannot be for another purpose or use: %s', (purpose, options, message) => {
    expect(() => warningsOf(purpose, options)).toThrow(message);
  });

  it('can sign documents with a purpose for code, with a warning, or with non-repudiation alone', () => {
    const code = warningsOf('document-signing', { purposes: [CODE_SIGNING] });
    expect(code).toEqual([expect.stringContaining('Acrobat does not trust it')]);
    const options = { purposes: [EMAIL_PROTECTION], keyUsage: [...NO_SIGNATURE] };
    expect(warningsOf('document-signing', options)).toEqual([]);
  });
});

describe('a file that is no certificate is rejected', () => {
  const key = leaf.privateKey;
  it.each<[string, string, () => Contents | readonly Contents[]]>([
    ['no file at all', 'certificate-not-given', () => []],
    ['empty', 'certificate-missing', () => ''],
    ['text', 'certificate-file-unreadable', () => 'hello'],
    ['truncated DER', 'certificate-file-unreadable', () => leaf.der.slice(0, -1)],
    ['PEM of garbage', 'certificate-file-unreadable', () => pemBlock('CERTIFICATE', Buffer.from('garbage'))],
    ['a request', 'certificate-missing', () => pemBlock('CERTIFICATE REQUEST', leaf.der)],
    ['a PKCS#8 key', 'certificate-is-private-key', () => key.export({ type: 'pkcs8', format: 'pem' })],
    ['a PKCS#1 key', 'certificate-is-private-key', () => key.export({ type: 'pkcs1', format: 'pem' })],
    ['a key as DER', 'certificate-is-private-key', () => key.export({ type: 'pkcs8', format: 'der' })],
    ['an encrypted key', 'certificate-is-private-key', () => oldEncryptedKey()],
    ['a first day that is no date', 'certificate-file-unreadable', () => dated('2020-01-01', '20xx01000000Z')],
    ['a last day that is no date', 'certificate-file-unreadable', () => dated('2045-01-01', '45xx01000000Z')],
    ['PKCS#7 without certificates', 'certificate-missing', () => toP7b([])],
    ['5 MB', 'certificate-file-too-large', () => Buffer.alloc(5 * 1024 * 1024, leaf.pem)],
  ])('%s: %s', async (_name, code, make) => {
    expect(await refusal(make())).toBe(code);
  });

  it('whatever it contains', async () => {
    const manyCertificates = Array.from({ length: 201 }, (_, index) =>
      Buffer.concat([leaf.der.slice(0, -2), Buffer.from([index >> 8, index])]),
    );
    const hostile: readonly Contents[] = [
      Buffer.alloc(4_000_000, '-----BEGIN CERTIFICATE-----'),
      Buffer.alloc(4_000_000, '-----BEGIN A-----\nAAAA\n'),
      Buffer.alloc(4_000_000, Buffer.from('3080', 'hex')),
      Buffer.alloc(4_000_000, Buffer.from('308400ffffff', 'hex')),
      manyCertificates.map((der) => pemBlock('CERTIFICATE', der)).join(''),
      toP7b(manyCertificates),
    ];
    for (const contents of hostile) {
      expect(await refusal(contents)).toMatch(/^certificate-(file-unreadable|bundle-too-large)$/);
    }
  });
});

/** The leaf with another text for its first or last day. */
function dated(day: string, text: string): Uint8Array {
  const digits = Buffer.from(`${day.slice(2).replaceAll('-', '')}000000Z`);
  const der = Buffer.from(leaf.der);
  const at = der.indexOf(digits);
  if (at < 0) throw new Error(`the leaf does not say ${day}`);
  der.write(text, at, 'latin1');
  return der;
}

/** A PKCS#12 file without a MAC, with each of its parts three times. */
function tripled(file: Uint8Array): Uint8Array {
  const [version, contentInfo] = parts(readElement(file, 'test'), 'test');
  const [type, tagged] = contentInfo ? parts(contentInfo, 'test') : [];
  if (!version || !type || !tagged) throw new Error('the PKCS#12 file has another shape');
  const { contents } = readElement(onlyPart(tagged, 'test').contents, 'test');
  const wrapped = contextConstructed(0, octetString(sequence(contents, contents, contents)));
  return sequence(version.bytes, sequence(type.bytes, wrapped));
}

function oldEncryptedKey(): string {
  const key = leaf.privateKey.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'x' });
  return key.toString();
}
