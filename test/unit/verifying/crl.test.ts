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

/** Codes of what speaks against trust; of warnings in brackets. */
async function check(crls: readonly Crl[], asked: Asked = {}): Promise<string[]> {
  const { certificate = leaf, by = issuer, at = SIGNED_AT, now = NOW } = asked;
  const findings = await createRevocation({ crls, http: undefined, now }).examine(certificate.parsed, by.parsed, at);
  return findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));
}

const crl = (request: Partial<CrlRequest> = {}) => crlsOf(makeCrl({ issuer, ...request }));
const revoked = (date: string, reason?: string, certificate = leaf) => ({
  revoked: [{ certificate, date, ...(reason === undefined ? {} : { reason }) }],
});

function acceptedByOpenssl(crlPem: string, at: Date): boolean {
  try {
    openssl(
      [
        'verify',
        '-crl_check',
        '-CRLfile',
        'crl.pem',
        '-CAfile',
        'ca.pem',
        '-attime',
        String(at.getTime() / 1000),
        'leaf.pem',
      ],
      { 'crl.pem': crlPem, 'ca.pem': issuer.pem, 'leaf.pem': leaf.pem },
    );
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

  it('that is listed is revoked, if from before it was used', async () => {
    const pem = makeCrl({ issuer, ...revoked(BEFORE) });
    expect(await check(crlsOf(pem))).toEqual(['certificate-revoked']);
    expect(acceptedByOpenssl(pem, NOW)).toBe(false);
    expect(await check(crl(revoked(BEFORE)), { at: new Date('2024-06-01T00:00:00Z') })).toEqual([
      'certificate-revoked',
    ]);
  });

  it('that was revoked after it was used stays good, with a warning', async () => {
    expect(await check(crl(revoked(AFTER)))).toEqual(['(certificate-revoked)']);
    expect(await check(crl(revoked(AFTER, 'superseded')))).toEqual(['(certificate-revoked)']);
    expect(await check(crl(revoked(AFTER)), { at: NOW })).toEqual(['certificate-revoked']);
  });

  it.each(['keyCompromise', 'CACompromise', 'keyTime,20240101000000Z', 'keyTime,20250301000000Z'])(
    'whose key is in wrong hands (%s) is revoked, whenever it was used',
    async (reason) => {
      expect(await check(crl(revoked(AFTER, reason)))).toEqual(['certificate-revoked']);
      expect(await check(crl(revoked(AFTER, reason)), { at: new Date('2024-06-01T00:00:00Z') })).toEqual([
        'certificate-revoked',
      ]);
    },
  );

  it('whose attribute authority was compromised is revoked, whenever it was used', async () => {
    // openssl does not write aACompromise: keyCompromise (1) becomes 10, and the list is signed again.
    const list = resigned(makeCrl({ issuer, ...revoked(AFTER, 'keyCompromise') }), (body) => {
      const at = body.indexOf(Buffer.from('0603551d1504030a0101', 'hex'));
      body.write('0603551d1504030a010a', at, 'hex');
    });
    expect(await check(crlsOf(list))).toEqual(['certificate-revoked']);
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
    const alike = ['471100', '004711', '114711', '47', '1147'].map((serial) => make({ subject: 'A', issuer, serial }));
    const list = crl({
      revoked: alike
        .slice(2)
        .concat(alike.slice(0, 1))
        .map((certificate) => ({ certificate, date: BEFORE })),
    });
    expect(await check(list, { certificate: short })).toEqual([]);
    expect(await check(crl(revoked(BEFORE, undefined, short)), { certificate: short })).toEqual([
      'certificate-revoked',
    ]);
  });

  it('that its authority says it will never revoke needs no CRL', async () => {
    const brief = make({ subject: 'Brief', issuer, extensions: [...SIGNER, '2.5.29.56=DER:0500'] });
    expect(await check([], { certificate: brief })).toEqual([]);
  });
});

describe('a CRL that does not apply', () => {
  const unknown = ['revocation-unknown'];

  it('is one that is not there', async () => {
    expect(await check([])).toEqual(unknown);
  });

  it('has expired, or is of the future', async () => {
    const old = makeCrl({ issuer, from: '20250101000000Z', to: '20260501000000Z' });
    expect(await check(crlsOf(old))).toEqual(unknown);
    expect(acceptedByOpenssl(old, NOW)).toBe(false);
    expect(await check(crl({ from: '20260701000000Z' }))).toEqual(unknown);
  });

  it('has expired, but not for what it lists: that stays revoked', async () => {
    const old = { from: '20250101000000Z', to: '20260501000000Z' };
    expect(await check(crl({ ...old, ...revoked(BEFORE) }))).toEqual(['certificate-revoked']);
  });

  it('takes the certificate from another list', async () => {
    expect(await check(crl(revoked(BEFORE, 'removeFromCRL')))).toEqual(unknown);
  });

  it('is of another issuer', async () => {
    expect(await check(crl({ issuer: make({ subject: 'Another' }), ...revoked(BEFORE) }))).toEqual(unknown);
  });

  it('is signed by another key under the name of the issuer', async () => {
    const forged = make({ subject: 'Issuer' });
    expect(await check(crl({ issuer: forged, ...revoked(BEFORE) }))).toEqual(unknown);
    expect(await check(crl({ issuer: forged }))).toEqual(unknown);
  });

  it('was changed after it was signed', async () => {
    const { der, body } = derOf(makeCrl({ issuer }));
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 1;
    expect(await check(crlsOf(pemBlock('X509 CRL', der)))).toEqual(unknown);
  });

  it('is of an issuer that may not sign CRLs', async () => {
    const silent = make({ subject: 'Silent', extensions: ['basicConstraints=CA:TRUE', 'keyUsage=keyCertSign'] });
    const certificate = make({ subject: 'Publisher', issuer: silent });
    expect(await check(crl({ issuer: silent }), { certificate, by: silent })).toEqual(unknown);
  });

  it.each([
    ['is a delta CRL', '2.5.29.27=critical,DER:020101', ''],
    ['has an unknown critical extension', '1.2.3.4=critical,DER:0500', ''],
    ['is indirect', 'issuingDistributionPoint=critical,@point', 'indirectCRL=TRUE'],
    ['has some reasons only', 'issuingDistributionPoint=critical,@point', 'onlysomereasons=keyCompromise'],
    ['covers authorities only', 'issuingDistributionPoint=critical,@point', 'onlyCA=TRUE'],
    ['covers attribute certificates only', 'issuingDistributionPoint=critical,@point', 'onlyAA=TRUE'],
    ['is for another distribution point', 'issuingDistributionPoint=critical,@point', 'fullname=URI:http://a/b'],
  ])('%s', async (_, extension, point) => {
    expect(await check(crl({ extensions: [extension], sections: `[point]\n${point}` }))).toEqual(unknown);
  });
});

describe('a CRL for some of the certificates', () => {
  const partial = (point: string) =>
    crl({ extensions: ['issuingDistributionPoint=critical,@point'], sections: `[point]\n${point}` });

  it('counts for those', async () => {
    expect(await check(partial('onlyuser=TRUE'))).toEqual([]);
    const authority = make({ subject: 'Authority', issuer, extensions: AUTHORITY });
    expect(await check(partial('onlyCA=TRUE'), { certificate: authority })).toEqual([]);
    expect(await check(partial('onlyuser=TRUE'), { certificate: authority })).toEqual(['revocation-unknown']);
  });

  it('counts for those that name its distribution point', async () => {
    const pointed = make({
      subject: 'P',
      issuer,
      extensions: ['crlDistributionPoints=URI:http://a/other,URI:http://a/b'],
    });
    expect(await check(partial('fullname=URI:http://a/b'), { certificate: pointed })).toEqual([]);
    expect(await check(partial('fullname=URI:http://a/c'), { certificate: pointed })).toEqual(['revocation-unknown']);
  });
});

describe('the signature of a CRL', () => {
  const PSS = ['-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:40'];

  it.each<[string, () => string, Partial<CrlRequest>]>([
    ['RSA', () => oneRsaKey(2048), {}],
    ['RSA and SHA-1', () => oneRsaKey(2048), { digest: 'sha1' }],
    ['RSA-PSS', () => oneRsaKey(2048), { args: PSS }],
    ['RSA-PSS and SHA-512', () => oneRsaKey(2048), { digest: 'sha512', args: PSS }],
    ['ECDSA and SHA-384', newKey, { digest: 'sha384' }],
    ['Ed25519', newEd25519Key, { digest: 'default' }],
  ])('may be by %s', async (_, key, request) => {
    const by = make({ subject: 'Issuer', key: key(), digest: request.digest === 'default' ? 'default' : 'sha256' });
    expect(await check(crl({ issuer: by, ...request }), { by })).toEqual([]);
  });

  it('may not be with MD5', async () => {
    const by = make({ subject: 'Issuer', key: oneRsaKey(2048) });
    expect(await check(crl({ issuer: by, digest: 'md5' }), { by })).toEqual(['revocation-unknown']);
  });
});

it('several CRLs are all examined: one that lists the certificate decides, one that does not apply is skipped', async () => {
  const foreign = makeCrl({ issuer: make({ subject: 'Another' }) });
  const old = makeCrl({ issuer, from: '20250101000000Z', to: '20260501000000Z' });
  const good = makeCrl({ issuer });
  expect(await check(crlsOf(foreign, old, good))).toEqual([]);
  expect(await check(crlsOf(good, makeCrl({ issuer, ...revoked(BEFORE) })))).toEqual(['certificate-revoked']);
});

describe('a statement that the certificate is revoked', () => {
  const point = (line: string) => ({
    extensions: ['issuingDistributionPoint=critical,@point'],
    sections: `[point]\n${line}`,
  });
  const delta = (request: Partial<CrlRequest> = {}) =>
    makeCrl({ issuer, extensions: ['2.5.29.27=critical,DER:020101'], ...request });
  const good = () => makeCrl({ issuer });

  it.each<[string, () => string]>([
    ['a delta CRL', () => delta(revoked(BEFORE))],
    ['an expired delta CRL', () => delta({ from: '20250101000000Z', to: '20250201000000Z', ...revoked(BEFORE) })],
    [
      'a CRL for some reasons only',
      () => makeCrl({ issuer, ...point('onlysomereasons=keyCompromise'), ...revoked(BEFORE) }),
    ],
    ['a CRL for other certificates', () => makeCrl({ issuer, ...point('onlyCA=TRUE'), ...revoked(BEFORE) })],
    [
      'a CRL for another distribution point',
      () => makeCrl({ issuer, ...point('fullname=URI:http://a/b'), ...revoked(BEFORE) }),
    ],
    ['an indirect CRL of its issuer', () => makeCrl({ issuer, ...point('indirectCRL=TRUE'), ...revoked(BEFORE) })],
    [
      'a CRL with an unknown critical extension',
      () => makeCrl({ issuer, extensions: ['1.2.3.4=critical,DER:0500'], ...revoked(BEFORE) }),
    ],
  ])('counts next to a good CRL, in %s', async (_, make) => {
    const pem = make();
    expect(await check(crlsOf(pem, good()))).toEqual(['certificate-revoked']);
    expect(await check(crlsOf(good(), pem))).toEqual(['certificate-revoked']);
  });

  it('does not count in a list that covers no public key certificates', async () => {
    const pem = makeCrl({ issuer, ...point('onlyAA=TRUE'), ...revoked(BEFORE) });
    expect(await check(crlsOf(pem, good()))).toEqual([]);
  });

  it('counts whatever the extensions of its entry hold', async () => {
    const [lines = ''] = [revoked(BEFORE, 'keyCompromise')].map((request) => makeCrl({ issuer, ...request }));
    // The reason, an ENUMERATED of one octet, becomes a value that is not DER; the list is signed again.
    const list = resigned(lines, (body) => {
      const at = body.indexOf(Buffer.from('0603551d150403', 'hex'));
      body.write('0603551d7f04030a81', at, 'hex');
    });
    expect(await check(crlsOf(list))).toEqual(['certificate-revoked']);
    expect(await check(crlsOf(good(), list))).toEqual(['certificate-revoked']);
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
    expect(await check(crlsOf(critical(makeCrl({ issuer, revoked: entries }))))).toEqual(['certificate-revoked']);
    const withoutLeaf = critical(makeCrl({ issuer, revoked: entries.slice(0, 1) }));
    expect(await check(crlsOf(withoutLeaf))).toEqual(['revocation-unknown']);
    expect(acceptedByOpenssl(withoutLeaf, NOW)).toBe(false);
  });

  it('counts whatever the certificate says about revocation, and that is nothing in an authority', async () => {
    const NEVER = '2.5.29.56=DER:0500';
    const brief = make({ subject: 'Brief', issuer, extensions: [...SIGNER, NEVER] });
    expect(await check(crl(revoked(BEFORE, undefined, brief)), { certificate: brief })).toEqual([
      'certificate-revoked',
    ]);
    expect(await check(crl(), { certificate: brief })).toEqual([]);
    const authority = make({ subject: 'Brief CA', issuer, extensions: [...AUTHORITY, NEVER] });
    expect(await check(crl(revoked(BEFORE, undefined, authority)), { certificate: authority })).toEqual([
      'certificate-revoked',
    ]);
    expect(await check([], { certificate: authority })).toEqual(['revocation-unknown']);
  });

  it('counts where another list has the certificate revoked after its use', async () => {
    for (const worse of [revoked(BEFORE, 'superseded'), revoked(AFTER, 'keyCompromise')]) {
      const lists = [revoked(AFTER, 'superseded'), worse].map((one) => makeCrl({ issuer, ...one }));
      expect(await check(crlsOf(...lists))).toEqual(['certificate-revoked']);
      expect(await check(crlsOf(...lists.toReversed()))).toEqual(['certificate-revoked']);
    }
  });
});

it.each<[string, () => readonly string[]]>([
  ['in a list', () => []],
  ['in a list before a newer list without it', () => [makeCrl({ issuer, from: '20260301000000Z' })]],
  [
    'in a list before a delta CRL that removes it',
    () => [makeCrl({ issuer, extensions: ['2.5.29.27=critical,DER:020101'], ...revoked(BEFORE, 'removeFromCRL') })],
  ],
])('a hold is a revocation, %s', async (_, newer) => {
  for (const to of ['20260501000000Z', '20400101000000Z']) {
    const hold = makeCrl({ issuer, from: '20260201000000Z', to, ...revoked(BEFORE, 'certificateHold') });
    expect(await check(crlsOf(hold, ...newer()))).toEqual(['certificate-revoked']);
    expect(await check(crlsOf(...newer(), hold))).toEqual(['certificate-revoked']);
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
    const pem = makeCrl({ issuer });
    const other = makeCrl({ issuer: make({ subject: 'Another' }) });
    const der = openssl(['crl', '-outform', 'DER', '-in', 'in'], { in: pem });
    const files = [await fileOf('several.pem', `text\n${pem}${other}`), await fileOf('one.crl', der)];
    expect((await loadCrlFiles(files)).map(({ issuerName }) => issuerName)).toEqual(['Issuer', 'Another', 'Issuer']);
  });

  it('must be readable', async () => {
    expect(await refusal(path.join(folder, 'missing'))).toBe('crl-file-unreadable');
    expect(await refusal(folder)).toBe('crl-file-unreadable');
  });

  it.each([
    ['nothing', ''],
    ['a certificate', () => issuer.pem],
    ['DER of another kind', () => issuer.der],
    ['a damaged CRL', '-----BEGIN X509 CRL-----\nMIIB\n-----END X509 CRL-----\n'],
  ])('must not hold %s', async (name, contents) => {
    expect(await refusal(await fileOf(name, typeof contents === 'string' ? contents : contents()))).toBe(
      'crl-file-unusable',
    );
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
