/** Revocation by the CRLs of files. What openssl says of some of them is the outside check. */

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextConstructed } from '../../../src/asn1/write.ts';
import { findInCrl, parseCrl } from '../../../src/certificates/revocation/crl.ts';
import { createRevocation } from '../../../src/verifying/revocation.ts';
import { loadCrlFiles } from '../../../src/verifying/roots.ts';
import { openssl, opensslAccepts } from '../../support/programs/openssl.ts';
import { folderForAll } from '../../support/set-up.ts';
import { type KeyPair, pemBlock, testKey } from '../../support/signed-files/pki.ts';
import {
  AUTHORITY,
  type CrlRequest,
  type Made,
  make,
  makeCrl,
  type Reason,
  SIGNER,
  TIME_STAMPER,
} from './support/made-pki.ts';

const NOW = new Date('2026-06-01T00:00:00Z');
const SIGNED_AT = new Date('2025-01-01T00:00:00Z');
const BEFORE = '20240601000000Z';
const AFTER = '20250601000000Z';

const issuer = make({ subject: 'Issuer' });
const leaf = make({ subject: 'Publisher', issuer });

interface Asked {
  readonly certificate?: Made;
  readonly by?: Made;
  readonly at?: Date;
}

/** Codes of findings; those of warnings in brackets. */
async function check(lists: readonly Uint8Array[], asked: Asked = {}): Promise<string[]> {
  const { certificate = leaf, by = issuer, at = SIGNED_AT } = asked;
  const findings = await createRevocation({ crls: lists.map(parseCrl), http: undefined, now: NOW }).examine(
    certificate.parsed,
    by.parsed,
    at,
  );
  return findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));
}

const crl = (request: Partial<CrlRequest> = {}) => makeCrl({ issuer, ...request });
const REVOKED = ['certificate-revoked'];
const UNKNOWN = ['revocation-unknown'];
/** Before the certificate was revoked by any list here. */
const EARLY = { at: new Date('2024-06-01T00:00:00Z') };
const OLD = { from: '20250101000000Z', to: '20260501000000Z' };
const DELTA = { extensions: ['2.5.29.27=critical,DER:020101'] };
const UNKNOWN_EXTENSION = { extensions: ['1.2.3.4=critical,DER:0500'] };
const point = (member: string) => ({ extensions: [`issuingDistributionPoint=critical,${member}`] });
const revoked = (date: string, reason?: Reason, certificate = leaf) => ({ revoked: [{ certificate, date, reason }] });

function acceptedByOpenssl(list: Uint8Array): boolean {
  const command = `verify -crl_check -CRLfile crl.pem -CAfile ca.pem -attime ${NOW.getTime() / 1000} leaf.pem`;
  const files = { 'crl.pem': pemBlock('X509 CRL', list), 'ca.pem': issuer.pem, 'leaf.pem': leaf.pem };
  return opensslAccepts(command.split(' '), files);
}

describe('a certificate', () => {
  it('that its CRL does not list is good', async () => {
    const harmless = { extensions: ['2.5.29.20=critical,DER:020101', '1.2.3.4=DER:0500'] };
    expect(await check([crl(harmless)])).toEqual([]);
    const list = crl(revoked(BEFORE, undefined, make({ subject: 'Other', issuer })));
    expect([await check([list]), acceptedByOpenssl(list)]).toEqual([[], true]);
  });

  it.each<[string, string, Reason | undefined, Asked, readonly string[]]>([
    ['at the time of its use', BEFORE, undefined, EARLY, REVOKED],
    ['after it was used', AFTER, undefined, {}, ['(certificate-revoked)']],
    ['after it was used, as superseded', AFTER, 'superseded', {}, ['(certificate-revoked)']],
    ['before now, its use', AFTER, undefined, { at: NOW }, REVOKED],
    ['for a lost key, long after it was used', AFTER, 'keyCompromise', EARLY, REVOKED],
    ['for a lost key of its authority', AFTER, 'CACompromise', EARLY, REVOKED],
    ['for a lost key of its attribute authority', AFTER, 'aACompromise', {}, REVOKED],
  ])('that was revoked %s', async (_, date, reason, asked, codes) => {
    expect(await check([crl(revoked(date, reason))], asked)).toEqual(codes);
  });

  it('that was revoked for a key that was lost at a known time, by a list of openssl', async () => {
    const files = {
      'ca.pem': issuer.pem,
      'ca.key': issuer.key.export({ type: 'pkcs8', format: 'pem' }),
      'index.txt': `R\t400101000000Z\t250601000000Z,keyTime,20250301000000Z\t${leaf.parsed.x509.serialNumber}\tunknown\t/CN=any\n`,
      crlnumber: '01',
      'ca.cnf': '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\ncrlnumber=crlnumber\ndefault_md=sha256\n',
    };
    const times = ['-crl_lastupdate', '20260101000000Z', '-crl_nextupdate', '20270101000000Z'];
    const by = ['-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key'];
    const pem = openssl(['ca', '-gencrl', ...by, ...times], files).toString();
    const list = Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64');
    expect([await check([list], EARLY), acceptedByOpenssl(list)]).toEqual([REVOKED, false]);
  });

  it.each<[Reason | undefined, readonly string[]]>([
    [undefined, ['certificate-revoked']],
    ['superseded', ['(certificate-revoked)']],
  ])('of a timestamp authority that was revoked for the reason %s', async (reason, codes) => {
    const certificate = make({ subject: 'Stamper', issuer, extensions: TIME_STAMPER });
    expect(await check([crl(revoked(AFTER, reason, certificate))], { certificate })).toEqual(codes);
  });

  it('is not treated as one whose serial number begins or ends like its own', async () => {
    const certificate = make({ subject: 'Short', issuer, serial: '4711' });
    const alike = ['114711', '47', '1147', '471100'].map((serial) => make({ subject: 'A', issuer, serial }));
    const list = crl({ revoked: alike.map((each) => ({ certificate: each, date: BEFORE })) });
    expect(await check([list], { certificate })).toEqual([]);
    expect(await check([crl(revoked(BEFORE, undefined, certificate))], { certificate })).toEqual(REVOKED);
  });
});

describe('a CRL that does not apply', () => {
  it.each<[string, () => readonly Uint8Array[]]>([
    ['there is none', () => []],
    ['it has expired', () => [crl(OLD)]],
    ['it is of the future', () => [crl({ from: '20260701000000Z' })]],
    ['it takes the certificate from another list', () => [crl(revoked(BEFORE, 'removeFromCRL'))]],
    ['it is of another issuer', () => [crl({ issuer: make({ subject: 'Another' }), ...revoked(BEFORE) })]],
    ['another key of the name signed it', () => [crl({ issuer: make({ subject: 'Issuer' }), ...revoked(BEFORE) })]],
    ['it is a delta CRL', () => [crl(DELTA)]],
    ['it has an unknown critical extension', () => [crl(UNKNOWN_EXTENSION)]],
    ['it is indirect', () => [crl(point('indirectCRL:TRUE'))]],
    ['it has some reasons only', () => [crl(point('onlysomereasons:keyCompromise'))]],
    ['it covers authorities only', () => [crl(point('onlyCA:TRUE'))]],
    ['it covers attribute certificates only', () => [crl(point('onlyAA:TRUE'))]],
    ['it is for another distribution point', () => [crl(point('fullname:URI:http://a/b'))]],
    ['it was changed after it was signed', () => [changed(crl(), '170d323730', '170d323830')]],
  ])('because %s', async (_, lists) => {
    expect(await check(lists())).toEqual(UNKNOWN);
  });

  it('because its issuer may not sign CRLs', async () => {
    const by = make({ subject: 'Silent', extensions: ['basicConstraints=CA:TRUE', 'keyUsage=keyCertSign'] });
    const certificate = make({ subject: 'Publisher', issuer: by });
    expect(await check([crl({ issuer: by })], { certificate, by })).toEqual(UNKNOWN);
  });
});

const POINTS = ['crlDistributionPoints=URI:http://a/other,URI:http://a/b'];

it.each<[string, readonly string[], readonly string[]]>([
  ['onlyuser:TRUE', SIGNER, []],
  ['onlyCA:TRUE', AUTHORITY, []],
  ['onlyuser:TRUE', AUTHORITY, UNKNOWN],
  ['fullname:URI:http://a/b', POINTS, []],
  ['fullname:URI:http://a/c', POINTS, UNKNOWN],
])('a CRL with %s counts for those certificates alone: %s', async (line, extensions, codes) => {
  expect(await check([crl(point(line))], { certificate: make({ subject: 'P', issuer, extensions }) })).toEqual(codes);
});

it.each<[string, () => KeyPair, Partial<CrlRequest>, readonly string[]]>([
  ['RSA and SHA-1', () => testKey('rsa-2048'), { digest: 'sha1' }, []],
  ['RSA-PSS and SHA-512', () => testKey('rsa-2048'), { digest: 'sha512', saltLength: 40 }, []],
  ['ECDSA and SHA-384', () => testKey('ec'), { digest: 'sha384' }, []],
  ['Ed25519', () => testKey('ed25519'), {}, []],
  ['RSA and MD5', () => testKey('rsa-2048'), { digest: 'md5' }, UNKNOWN],
])('the signature of a CRL by %s', async (_, keys, request, codes) => {
  const { privateKey: key } = keys();
  const by = make({ subject: 'Issuer', key });
  expect(await check([crl({ issuer: by, ...request })], { by })).toEqual(codes);
});

/** Of the lists in either order. */
async function checkBoth(one: Uint8Array, other: Uint8Array): Promise<readonly string[]> {
  const codes = await check([one, other]);
  expect(await check([other, one])).toEqual(codes);
  return codes;
}

describe('a statement that the certificate is revoked', () => {
  it.each<[string, Partial<CrlRequest>]>([
    ['an expired delta CRL', { ...OLD, ...DELTA }],
    ['a CRL for some reasons only', point('onlysomereasons:keyCompromise')],
    ['a CRL for other certificates', point('onlyCA:TRUE')],
    ['a CRL for another distribution point', point('fullname:URI:http://a/b')],
    ['an indirect CRL of its issuer', point('indirectCRL:TRUE')],
    ['a CRL with an unknown critical extension', UNKNOWN_EXTENSION],
  ])('counts next to a good CRL, in %s', async (_, request) => {
    expect(await checkBoth(crl({ ...request, ...revoked(BEFORE) }), crl())).toEqual(REVOKED);
  });

  it('does not count in a list that covers no public key certificates', async () => {
    expect(await check([crl({ ...point('onlyAA:TRUE'), ...revoked(BEFORE) }), crl()])).toEqual([]);
  });

  it('counts whatever the extensions of its entry hold', async () => {
    const list = crl({ revoked: [{ certificate: leaf, date: BEFORE, extensions: ['2.5.29.21=DER:0a8101'] }] });
    expect(await check([crl(), list])).toEqual(REVOKED);
  });

  it('counts, and "good" does not, in a list with an entry whose critical extension is not known', async () => {
    const listed = (extensions: readonly string[], ...certificates: readonly Made[]) =>
      crl({ revoked: certificates.map((certificate) => ({ certificate, date: BEFORE, extensions })) });
    const [other, unknown] = [make({ subject: 'Other', issuer }), ['1.2.3.4=critical,DER:0500']];
    expect(await check([listed(unknown, other, leaf)])).toEqual(REVOKED);
    const withoutLeaf = listed(unknown, other);
    expect([await check([withoutLeaf]), acceptedByOpenssl(withoutLeaf)]).toEqual([UNKNOWN, false]);
    // A critical reason is known.
    expect(await check([listed(['2.5.29.21=critical,DER:0a0101'], other)])).toEqual([]);
  });

  it('counts whatever the certificate says about revocation, and that is nothing in an authority', async () => {
    const NEVER = '2.5.29.56=DER:0500';
    const brief = make({ subject: 'Brief', issuer, extensions: [...SIGNER, NEVER] });
    expect(await check([crl(revoked(BEFORE, undefined, brief))], { certificate: brief })).toEqual(REVOKED);
    expect(await check([], { certificate: brief })).toEqual([]);
    const authority = make({ subject: 'Brief CA', issuer, extensions: [...AUTHORITY, NEVER] });
    expect(await check([], { certificate: authority })).toEqual(UNKNOWN);
  });

  it.each<[string, Reason]>([
    [BEFORE, 'superseded'],
    [AFTER, 'keyCompromise'],
  ])('counts, of %s for %s, where another list has the certificate revoked after its use', async (date, reason) => {
    expect(await checkBoth(crl(revoked(AFTER, 'superseded')), crl(revoked(date, reason)))).toEqual(REVOKED);
  });
});

it.each<[string, Partial<CrlRequest>]>([
  ['a newer list without it', { from: '20260301000000Z' }],
  ['a delta CRL that removes it', { ...DELTA, ...revoked(BEFORE, 'removeFromCRL') }],
])('a hold is a revocation, also in a list before %s', async (_, request) => {
  for (const to of ['20260501000000Z', '20400101000000Z']) {
    const hold = crl({ from: '20260201000000Z', to, ...revoked(BEFORE, 'certificateHold') });
    expect(await checkBoth(hold, crl(request))).toEqual(REVOKED);
  }
});

/** The list with the bytes that are `from` in hexadecimal replaced by as many. */
function changed(list: Buffer, from: string, to: string): Buffer {
  const at = list.indexOf(Buffer.from(from, 'hex'));
  expect(at).toBeGreaterThan(0);
  list.write(to, at, 'hex');
  return list;
}

describe('a CRL file', () => {
  const folder = folderForAll();
  const load = async (contents: string | Uint8Array) => {
    await writeFile(path.join(folder, 'crl'), contents);
    return loadCrlFiles([path.join(folder, 'crl')]);
  };

  it('is PEM with several, or DER', async () => {
    const list = crl();
    const pem = [list, crl({ issuer: make({ subject: 'Another' }) })].map((each) => pemBlock('X509 CRL', each));
    const found = [...(await load(`text\n${pem.join('')}`)), ...(await load(list))];
    expect(found.map(({ issuerName }) => issuerName)).toEqual(['Issuer', 'Another', 'Issuer']);
  });

  it.each(['missing', ''])('must be readable: "%s"', async (name) => {
    await expect(loadCrlFiles([path.join(folder, name)])).rejects.toMatchObject({ code: 'crl-file-unreadable' });
  });

  it.each([
    ['nothing', ''],
    ['a certificate', issuer.pem],
    ['DER of another kind', issuer.der],
    ['a damaged CRL', '-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n'],
  ])('must not hold %s', async (_, contents) => {
    await expect(load(contents)).rejects.toMatchObject({ code: 'crl-file-unusable' });
  });
});

it('says what is wrong with entries that are malformed', () => {
  const small = parseCrl(crl());
  for (const entries of [contextConstructed(0), Uint8Array.of(0x30, 0x82, 0xff), Uint8Array.of(0x30)]) {
    expect(() => findInCrl({ ...small, entries }, { serialNumber: Uint8Array.of(2, 1, 1), issuerKey: '' })).toThrow(
      /CRL entry/,
    );
  }
});
