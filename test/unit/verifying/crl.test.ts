/** Revocation by the CRLs of files, made by openssl, which also checks them. */

import { sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parts, readDer } from '../../../src/asn1/read.ts';
import { contextConstructed, encode, sequence } from '../../../src/asn1/write.ts';
import { type Crl, findInCrl, readCrls } from '../../../src/certificates/revocation/crl.ts';
import { createRevocation } from '../../../src/verifying/revocation.ts';
import { loadCrlFiles } from '../../../src/verifying/roots.ts';
import { asBuffer } from '../../../src/zip/fields.ts';
import { openssl } from '../../support/programs/openssl.ts';
import { folderForAll } from '../../support/set-up.ts';
import { pemBlock } from '../../support/signed-files/pki.ts';
import {
  AUTHORITY,
  type CrlRequest,
  type Made,
  make,
  makeCrl,
  newEd25519Key,
  newKey,
  oneRsaKey,
  SIGNER,
  TIME_STAMPER,
} from './support/openssl-pki.ts';

const NOW = new Date('2026-06-01T00:00:00Z');
const SIGNED_AT = new Date('2025-01-01T00:00:00Z');
const BEFORE = '240601000000Z';
const AFTER = '250601000000Z';

const issuer = make({ subject: 'Issuer' });
const leaf = make({ subject: 'Publisher', issuer });

function crlsOf(...pem: readonly string[]): readonly Crl[] {
  const crls = readCrls(Buffer.from(pem.join('')));
  if (typeof crls === 'string') throw new Error(crls);
  return crls;
}

interface Asked {
  readonly certificate?: Made;
  readonly by?: Made;
  readonly at?: Date;
  readonly now?: Date;
}

/** Codes of findings; those of warnings in brackets. */
async function check(crls: readonly Crl[], asked: Asked = {}): Promise<string[]> {
  const { certificate = leaf, by = issuer, at = SIGNED_AT, now = NOW } = asked;
  const findings = await createRevocation({ crls, http: undefined, now }).examine(certificate.parsed, by.parsed, at);
  return findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));
}

const crl = (request: Partial<CrlRequest> = {}) => crlsOf(makeCrl({ issuer, ...request }));
const REVOKED = ['certificate-revoked'];
const UNKNOWN = ['revocation-unknown'];
/** Before the certificate was revoked by any list here. */
const EARLY = { at: new Date('2024-06-01T00:00:00Z') };
const OLD = { from: '20250101000000Z', to: '20260501000000Z' };
const DELTA = { extensions: ['2.5.29.27=critical,DER:020101'] };
const UNKNOWN_EXTENSION = { extensions: ['1.2.3.4=critical,DER:0500'] };
const point = (line: string) => ({
  extensions: ['issuingDistributionPoint=critical,@point'],
  sections: `[point]\n${line}`,
});
const revoked = (date: string, reason?: string, certificate = leaf) => ({
  revoked: [{ certificate, date, ...(reason === undefined ? {} : { reason }) }],
});

function acceptedByOpenssl(crlPem: string, at: Date): boolean {
  try {
    const command = `verify -crl_check -CRLfile crl.pem -CAfile ca.pem -attime ${at.getTime() / 1000} leaf.pem`;
    openssl(command.split(' '), { 'crl.pem': crlPem, 'ca.pem': issuer.pem, 'leaf.pem': leaf.pem });
    return true;
  } catch {
    return false;
  }
}

describe('a certificate', () => {
  it('that its CRL does not list is good', async () => {
    const pem = makeCrl({ issuer, ...revoked(BEFORE, undefined, make({ subject: 'Other', issuer })) });
    expect(await check(crlsOf(pem))).toEqual([]);
    expect(acceptedByOpenssl(pem, NOW)).toBe(true);
  });

  it.each<[string, string, string | undefined, Asked, readonly string[]]>([
    ['before it was used', BEFORE, undefined, {}, REVOKED],
    ['at the time of its use', BEFORE, undefined, EARLY, REVOKED],
    ['after it was used', AFTER, undefined, {}, ['(certificate-revoked)']],
    ['after it was used, as superseded', AFTER, 'superseded', {}, ['(certificate-revoked)']],
    ['before now, its use', AFTER, undefined, { at: NOW }, REVOKED],
    ['for a lost key', AFTER, 'keyCompromise', {}, REVOKED],
    ['for a lost key, long after it was used', AFTER, 'keyCompromise', EARLY, REVOKED],
    ['for a lost key of its authority', AFTER, 'CACompromise', EARLY, REVOKED],
    ['for a key that was lost at a known time', AFTER, 'keyTime,20250301000000Z', EARLY, REVOKED],
  ])('that was revoked %s', async (_, date, reason, asked, codes) => {
    const pem = makeCrl({ issuer, ...revoked(date, reason) });
    expect(await check(crlsOf(pem), asked)).toEqual(codes);
    expect(acceptedByOpenssl(pem, NOW)).toBe(false);
  });

  it('whose attribute authority was compromised is revoked, whenever it was used', async () => {
    // openssl does not write aACompromise: keyCompromise (1) becomes 10, and the list is signed again.
    const list = resigned(makeCrl({ issuer, ...revoked(AFTER, 'keyCompromise') }), (body) => {
      const at = body.indexOf(Buffer.from('0603551d1504030a0101', 'hex'));
      body.write('0603551d1504030a010a', at, 'hex');
    });
    expect(await check(crlsOf(list))).toEqual(REVOKED);
  });

  it('of a timestamp authority takes all its tokens with it, unless the reason says that its key is safe', async () => {
    const stamper = make({ subject: 'Stamper', issuer, extensions: TIME_STAMPER });
    const found = (reason?: string) => check(crl(revoked(AFTER, reason, stamper)), { certificate: stamper });
    expect(await found()).toEqual(['certificate-revoked']);
    expect(await found('keyCompromise')).toEqual(['certificate-revoked']);
    expect(await found('superseded')).toEqual(['(certificate-revoked)']);
  });

  it('is not treated as one whose serial number begins or ends like its own', async () => {
    const short = make({ subject: 'Short', issuer, serial: '4711' });
    const alike = ['114711', '47', '1147', '471100'].map((serial) => make({ subject: 'A', issuer, serial }));
    const list = crl({ revoked: alike.map((certificate) => ({ certificate, date: BEFORE })) });
    expect(await check(list, { certificate: short })).toEqual([]);
    expect(await check(crl(revoked(BEFORE, undefined, short)), { certificate: short })).toEqual(REVOKED);
  });
});

describe('a CRL that does not apply', () => {
  it.each<[string, () => readonly Crl[]]>([
    ['there is none', () => []],
    ['it has expired', () => crl(OLD)],
    ['it is of the future', () => crl({ from: '20260701000000Z' })],
    ['it takes the certificate from another list', () => crl(revoked(BEFORE, 'removeFromCRL'))],
    ['it is of another issuer', () => crl({ issuer: make({ subject: 'Another' }), ...revoked(BEFORE) })],
    ['it is signed by another key of the name', () => crl({ issuer: make({ subject: 'Issuer' }), ...revoked(BEFORE) })],
    ['it is a delta CRL', () => crl(DELTA)],
    ['it has an unknown critical extension', () => crl(UNKNOWN_EXTENSION)],
    ['it is indirect', () => crl(point('indirectCRL=TRUE'))],
    ['it has some reasons only', () => crl(point('onlysomereasons=keyCompromise'))],
    ['it covers authorities only', () => crl(point('onlyCA=TRUE'))],
    ['it covers attribute certificates only', () => crl(point('onlyAA=TRUE'))],
    ['it is for another distribution point', () => crl(point('fullname=URI:http://a/b'))],
  ])('because %s', async (_, lists) => {
    expect(await check(lists())).toEqual(UNKNOWN);
  });

  it('because it was changed after it was signed', async () => {
    const { der, body } = derOf(makeCrl({ issuer }));
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
    expect(await check(crlsOf(pemBlock('X509 CRL', der)))).toEqual(UNKNOWN);
  });

  it('because its issuer may not sign CRLs', async () => {
    const silent = make({ subject: 'Silent', extensions: ['basicConstraints=CA:TRUE', 'keyUsage=keyCertSign'] });
    const certificate = make({ subject: 'Publisher', issuer: silent });
    expect(await check(crl({ issuer: silent }), { certificate, by: silent })).toEqual(UNKNOWN);
  });
});

describe('a CRL for some of the certificates counts', () => {
  it('for those', async () => {
    expect(await check(crl(point('onlyuser=TRUE')))).toEqual([]);
    const authority = make({ subject: 'Authority', issuer, extensions: AUTHORITY });
    expect(await check(crl(point('onlyCA=TRUE')), { certificate: authority })).toEqual([]);
    expect(await check(crl(point('onlyuser=TRUE')), { certificate: authority })).toEqual(UNKNOWN);
  });

  it('for those that name its distribution point', async () => {
    const extensions = ['crlDistributionPoints=URI:http://a/other,URI:http://a/b'];
    const pointed = make({ subject: 'P', issuer, extensions });
    expect(await check(crl(point('fullname=URI:http://a/b')), { certificate: pointed })).toEqual([]);
    expect(await check(crl(point('fullname=URI:http://a/c')), { certificate: pointed })).toEqual(UNKNOWN);
  });
});

describe('the signature of a CRL', () => {
  const PSS = ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:40'];

  it.each<[string, () => string, Partial<CrlRequest>]>([
    ['RSA', () => oneRsaKey(2048), {}],
    ['RSA and SHA-1', () => oneRsaKey(2048), { digest: 'sha1' }],
    ['RSA-PSS and SHA-512', () => oneRsaKey(2048), { digest: 'sha512', args: PSS }],
    ['ECDSA and SHA-384', newKey, { digest: 'sha384' }],
    ['Ed25519', newEd25519Key, { digest: 'default' }],
  ])('may be by %s', async (_, key, request) => {
    const by = make({ subject: 'Issuer', key: key(), digest: request.digest === 'default' ? 'default' : 'sha256' });
    expect(await check(crl({ issuer: by, ...request }), { by })).toEqual([]);
  });

  it('may not be with MD5', async () => {
    const by = make({ subject: 'Issuer', key: oneRsaKey(2048) });
    expect(await check(crl({ issuer: by, digest: 'md5' }), { by })).toEqual(UNKNOWN);
  });
});

it('several CRLs are all examined: one that does not apply is skipped', async () => {
  const foreign = makeCrl({ issuer: make({ subject: 'Another' }) });
  expect(await check(crlsOf(foreign, makeCrl({ issuer, ...OLD }), makeCrl({ issuer })))).toEqual([]);
});

describe('a statement that the certificate is revoked', () => {
  const good = () => makeCrl({ issuer });

  it.each<[string, Partial<CrlRequest>]>([
    ['a good CRL', {}],
    ['an expired CRL', OLD],
    ['a delta CRL', DELTA],
    ['an expired delta CRL', { ...OLD, ...DELTA }],
    ['a CRL for some reasons only', point('onlysomereasons=keyCompromise')],
    ['a CRL for other certificates', point('onlyCA=TRUE')],
    ['a CRL for another distribution point', point('fullname=URI:http://a/b')],
    ['an indirect CRL of its issuer', point('indirectCRL=TRUE')],
    ['a CRL with an unknown critical extension', UNKNOWN_EXTENSION],
  ])('counts next to a good CRL, in %s', async (_, request) => {
    const pem = makeCrl({ issuer, ...request, ...revoked(BEFORE) });
    expect(await check(crlsOf(pem, good()))).toEqual(REVOKED);
    expect(await check(crlsOf(good(), pem))).toEqual(REVOKED);
  });

  it('does not count in a list that covers no public key certificates', async () => {
    const pem = makeCrl({ issuer, ...point('onlyAA=TRUE'), ...revoked(BEFORE) });
    expect(await check(crlsOf(pem, good()))).toEqual([]);
  });

  it('counts whatever the extensions of its entry hold', async () => {
    // The reason, an ENUMERATED of one octet, becomes a value that is not DER; the list is signed again.
    const list = resigned(makeCrl({ issuer, ...revoked(BEFORE, 'keyCompromise') }), (body) => {
      const at = body.indexOf(Buffer.from('0603551d150403', 'hex'));
      body.write('0603551d7f04030a81', at, 'hex');
    });
    expect(await check(crlsOf(good(), list))).toEqual(REVOKED);
    expect(acceptedByOpenssl(list, NOW)).toBe(false);
  });

  it('counts, and "good" does not, in a list with an entry whose critical extension is not known', async () => {
    const stranger = make({ subject: 'Other', issuer });
    const entries = [stranger, leaf].map((certificate) => ({ certificate, date: BEFORE, reason: 'keyCompromise' }));
    const critical = (pem: string) =>
      resigned(pem, (body) => {
        // SEQUENCE { OID, OCTET STRING { ENUMERATED 1 } } becomes SEQUENCE { OID of no meaning, TRUE, OCTET STRING of none }.
        const at = body.indexOf(Buffer.from('300a0603551d1504030a0101', 'hex'));
        body.write('300a06032a03040101ff0400', at, 'hex');
      });
    expect(await check(crlsOf(critical(makeCrl({ issuer, revoked: entries }))))).toEqual(REVOKED);
    const withoutLeaf = critical(makeCrl({ issuer, revoked: entries.slice(0, 1) }));
    expect(await check(crlsOf(withoutLeaf))).toEqual(UNKNOWN);
    expect(acceptedByOpenssl(withoutLeaf, NOW)).toBe(false);
  });

  it('counts whatever the certificate says about revocation, and that is nothing in an authority', async () => {
    const NEVER = '2.5.29.56=DER:0500';
    const brief = make({ subject: 'Brief', issuer, extensions: [...SIGNER, NEVER] });
    expect(await check(crl(revoked(BEFORE, undefined, brief)), { certificate: brief })).toEqual(REVOKED);
    expect(await check([], { certificate: brief })).toEqual([]);
    const authority = make({ subject: 'Brief CA', issuer, extensions: [...AUTHORITY, NEVER] });
    expect(await check([], { certificate: authority })).toEqual(UNKNOWN);
  });

  it('counts where another list has the certificate revoked after its use', async () => {
    for (const worse of [revoked(BEFORE, 'superseded'), revoked(AFTER, 'keyCompromise')]) {
      const lists = [revoked(AFTER, 'superseded'), worse].map((one) => makeCrl({ issuer, ...one }));
      expect(await check(crlsOf(...lists))).toEqual(REVOKED);
      expect(await check(crlsOf(...lists.toReversed()))).toEqual(REVOKED);
    }
  });
});

it.each<[string, Partial<CrlRequest>]>([
  ['a newer list without it', { from: '20260301000000Z' }],
  ['a delta CRL that removes it', { ...DELTA, ...revoked(BEFORE, 'removeFromCRL') }],
])('a hold is a revocation, also in a list before %s', async (_, request) => {
  const newer = makeCrl({ issuer, ...request });
  for (const to of ['20260501000000Z', '20400101000000Z']) {
    const hold = makeCrl({ issuer, from: '20260201000000Z', to, ...revoked(BEFORE, 'certificateHold') });
    expect(await check(crlsOf(hold, newer))).toEqual(REVOKED);
    expect(await check(crlsOf(newer, hold))).toEqual(REVOKED);
  }
});

/** The CRL with its body changed in place, signed by the issuer again. */
function resigned(pem: string, change: (body: Buffer) => void): string {
  const { der, body, algorithm } = derOf(pem);
  const before = Buffer.from(der);
  change(body);
  expect(der.equals(before)).toBe(false);
  const signature = sign('sha256', body, issuer.key);
  return pemBlock('X509 CRL', sequence(body, algorithm, encode(0x03, Uint8Array.of(0), signature)));
}

/** `body` and `algorithm` are views of `der`. */
function derOf(pem: string) {
  const der = openssl(['crl', '-outform', 'DER', '-in', 'in'], { in: pem });
  const [body, algorithm] = parts(readDer(der, 'CRL'), 'CRL').map(({ bytes }) => asBuffer(bytes));
  if (body === undefined || algorithm === undefined) throw new Error('no CRL');
  return { der, body, algorithm };
}

describe('a CRL file', () => {
  const folder = folderForAll();
  const fileOf = async (name: string, contents: string | Uint8Array): Promise<string> => {
    await writeFile(path.join(folder, name), contents);
    return path.join(folder, name);
  };
  const refusal = (file: string) =>
    loadCrlFiles([file]).then(
      () => 'accepted',
      (error: { code: string }) => error.code,
    );

  it('is PEM with several, or DER', async () => {
    const [pem, other] = [issuer, make({ subject: 'Another' })].map((one) => makeCrl({ issuer: one }));
    const der = openssl(['crl', '-outform', 'DER', '-in', 'in'], { in: pem ?? '' });
    const files = [await fileOf('several.pem', `text\n${pem}${other}`), await fileOf('one.crl', der)];
    expect((await loadCrlFiles(files)).map(({ issuerName }) => issuerName)).toEqual(['Issuer', 'Another', 'Issuer']);
  });

  it('must be readable', async () => {
    expect(await refusal(path.join(folder, 'missing'))).toBe('crl-file-unreadable');
    expect(await refusal(folder)).toBe('crl-file-unreadable');
  });

  it.each([
    ['nothing', ''],
    ['a certificate', issuer.pem],
    ['DER of another kind', issuer.der],
    ['a damaged CRL', '-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n'],
  ])('must not hold %s', async (name, contents) => {
    expect(await refusal(await fileOf(name, contents))).toBe('crl-file-unusable');
  });
});

it('says what is wrong with entries that are malformed', () => {
  const [small] = crl();
  if (small === undefined) throw new Error('no CRL');
  for (const entries of [contextConstructed(0), Uint8Array.of(0x30, 0x82, 0xff), Uint8Array.of(0x30)]) {
    expect(() => findInCrl({ ...small, entries }, { serialNumber: Uint8Array.of(2, 1, 1), issuerKey: '' })).toThrow(
      /CRL entry/,
    );
  }
});
