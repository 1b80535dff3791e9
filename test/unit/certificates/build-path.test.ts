/** Building paths through certificates. openssl verify is the outside check. */

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encode, nullValue, objectIdentifier, sequence } from '../../../src/asn1/write.ts';
import { buildPath, type CertificatePath } from '../../../src/certificates/build-path.ts';
import type { Purpose } from '../../../src/certificates/purpose.ts';
import { printedByOpenssl } from '../../support/programs/openssl.ts';
import { subjectPublicKeyInfo } from '../../support/signed-files/hostile-certificates.ts';
import { testKey } from '../../support/signed-files/pki.ts';
import { rsaKey } from '../../support/signed-files/rsa-keys.ts';
import {
  AUTHORITY,
  algorithmOf,
  type Made,
  type MakeRequest,
  make,
  TIME_STAMPER,
} from '../verifying/support/made-pki.ts';

const NOW = new Date('2026-06-01T00:00:00Z');

interface Asked {
  readonly leaf: Made;
  readonly pool?: readonly Made[];
  readonly roots: readonly Made[];
  readonly purpose?: Purpose;
}

function build({ leaf, pool = [], roots, purpose = 'code-signing' }: Asked): CertificatePath {
  const [others, trusted] = [pool, roots].map((list) => list.map(({ parsed }) => parsed));
  return buildPath(leaf.parsed, others ?? [], trusted ?? [], NOW, purpose);
}

const namesOf = (asked: Asked) => build(asked).certificates.map((certificate) => certificate.name);
/** Codes of findings; those of warnings in brackets. */
const codesOf = (asked: Asked) =>
  build(asked).findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));

/** Tells for each path if OpenSSL accepts it for the purpose of the first. Its security level 0 allows every digest. */
function acceptedByOpenssl(...all: readonly Asked[]): boolean[] {
  const joined = (lists: readonly (readonly Made[])[]) => lists.flatMap((list) => list.map(({ pem }) => pem)).join('');
  const leaves = Object.fromEntries(all.map(({ leaf: { pem } }, index) => [`leaf-${index}.pem`, pem]));
  const roots = joined(all.map((asked) => asked.roots));
  const pool = joined(all.map((asked) => asked.pool ?? []));
  const trust = ['-CAfile', 'roots.pem', '-no-CApath', '-no-CAstore', '-auth_level', '0'];
  const untrusted = pool === '' ? [] : ['-untrusted', 'pool.pem'];
  const purposes = all[0]?.purpose === 'time-stamping' ? ['-purpose', 'timestampsign'] : [];
  const args = ['verify', '-attime', String(NOW.getTime() / 1000), ...trust, ...untrusted, ...purposes];
  const printed = printedByOpenssl([...args, ...Object.keys(leaves)], {
    ...leaves,
    'roots.pem': roots,
    'pool.pem': pool,
  });
  return Object.keys(leaves).map((file) => printed.includes(`${file}: OK`));
}

const PURPOSE = ['extendedKeyUsage=codeSigning'];
const SERVER = ['extendedKeyUsage=serverAuth'];
const root = make({ subject: 'Root' });
const intermediate = make({ subject: 'Issuing CA', issuer: root, extensions: AUTHORITY });
const leaf = make({ subject: 'Publisher', issuer: intermediate });
/** A leaf of the root. */
const issued = (request: Partial<MakeRequest>): Asked => ({
  leaf: make({ subject: 'Publisher', issuer: root, ...request }),
  roots: [request.issuer ?? root],
});

describe('a path', () => {
  it('leads from the leaf to the root, whatever else is in the pool and in which order', () => {
    const stranger = make({ subject: 'Stranger' });
    const asked = { leaf, pool: [stranger, intermediate, leaf, root, intermediate], roots: [stranger, root] };
    expect(namesOf(asked)).toEqual(['Publisher', 'Issuing CA', 'Root']);
    expect(build(asked)).toMatchObject({ isTrusted: true, findings: [] });
    expect(acceptedByOpenssl(asked)).toEqual([true]);
  });

  it.each<[string, () => Asked]>([
    [
      'a root of the same name and another key',
      () => ({ leaf, pool: [intermediate, root], roots: [make({ subject: 'Root' })] }),
    ],
    ...[{ extensions: SERVER }, { to: '20250101000000Z' }].map((request): [string, () => Asked] => [
      `a certificate of the leaf’s own name and key with ${JSON.stringify(request)}`,
      () => {
        const trusted = make({ subject: 'Own', extensions: PURPOSE, ...request });
        return { leaf: make({ subject: 'Own', key: trusted.key, extensions: PURPOSE }), roots: [trusted] };
      },
    ]),
  ])('is not trusted by %s', (_, make) => {
    const asked = make();
    expect([build(asked).isTrusted, acceptedByOpenssl(asked)]).toEqual([false, [false]]);
  });

  it('is trusted by a root renewed with the same key', () => {
    const renewed = make({ subject: 'Root', key: root.key, to: '20450101000000Z' });
    const path = build({ leaf, pool: [intermediate, root], roots: [renewed] });
    expect([path.isTrusted, path.certificates.at(-1)]).toEqual([true, renewed.parsed]);
  });

  it('includes the cross-signed certificate of an authority whose own root is not trusted', () => {
    const elder = make({ subject: 'Elder Root' });
    const cross = make({ subject: 'Root', key: root.key, issuer: elder, extensions: AUTHORITY });
    const asked = { leaf, pool: [root, cross, intermediate], roots: [elder] };
    expect(namesOf(asked)).toEqual(['Publisher', 'Issuing CA', 'Root', 'Elder Root']);
    expect(build(asked).isTrusted).toBe(true);
    // It does not turn back from the first root it finds.
    expect(acceptedByOpenssl({ ...asked, pool: [cross, intermediate] })).toEqual([true]);
  });
});

describe('the time', () => {
  it('allows an expired trusted root, with a note', () => {
    const asked = issued({ issuer: make({ subject: 'Old Root', to: '20250101000000Z' }) });
    expect([build(asked).isTrusted, codesOf(asked)]).toEqual([true, ['(certificate-expired)']]);
  });

  it('counts for a leaf that is trusted as itself', () => {
    const own = make({ subject: 'Own', to: '20250101000000Z', extensions: PURPOSE });
    expect(codesOf({ leaf: own, roots: [own] })).toEqual(['certificate-expired']);
  });
});

describe('an issuer', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['basicConstraints=critical,CA:FALSE'], ['certificate-not-authority']],
    [[...AUTHORITY, ...SERVER], ['certificate-purpose']],
    [[...AUTHORITY, ...PURPOSE], []],
  ])('with %s: %s', (extensions, codes) => {
    const issuer = make({ subject: 'Odd CA', issuer: root, extensions });
    expect(codesOf({ ...issued({ issuer }), pool: [issuer], roots: [root] })).toEqual(codes);
  });

  it('does not count itself under a new key against its own path length', () => {
    const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=keyCertSign'];
    const first = make({ subject: 'Rolling', issuer: root, extensions });
    const second = make({ subject: 'Rolling', issuer: first, extensions });
    const asked = { ...issued({ issuer: second }), pool: [first, second], roots: [root] };
    expect([namesOf(asked).length, codesOf(asked), acceptedByOpenssl(asked)]).toEqual([4, [], [true]]);
  });

  it('of version 1 counts as a trusted root only', () => {
    const asked = issued({ issuer: make({ subject: 'Old', extensions: [] }) });
    expect(codesOf(asked)).toEqual([]);
    expect(codesOf({ ...asked, roots: [], pool: asked.roots })).toEqual(['certificate-not-authority']);
  });
});

const WRONG = 'certificate-purpose';
const purposeRows: readonly (readonly [readonly string[], readonly string[], boolean])[] = [
  [TIME_STAMPER, [], true],
  [['keyUsage=digitalSignature'], [WRONG], false],
  [['extendedKeyUsage=anyExtendedKeyUsage'], [WRONG], false],
  [['extendedKeyUsage=timeStamping'], [`(${WRONG})`], false],
  [['keyUsage=keyAgreement', 'extendedKeyUsage=critical,timeStamping'], [WRONG], false],
];

it('the purpose of an authority for timestamps must be named', () => {
  const all = purposeRows.map(([extensions]): Asked => ({ ...issued({ extensions }), purpose: 'time-stamping' }));
  expect(all.map(codesOf)).toEqual(purposeRows.map(([, codes]) => codes));
  expect(acceptedByOpenssl(...all)).toEqual(purposeRows.map(([, , isGood]) => isGood));
});

it.each<[string, Partial<MakeRequest>]>([
  ['certificate-purpose', { extensions: SERVER }],
  ['certificate-purpose', { extensions: ['keyUsage=keyEncipherment'] }],
  ['certificate-critical-extension', { extensions: ['1.2.3.4.5=critical,DER:0500'] }],
  ['certificate-malformed', { extensions: ['2.5.29.37=DER:040100'] }],
])('the finding %s is on a leaf with %j', (code, request) => {
  expect(codesOf(issued(request))).toEqual([code]);
});

const WEAK_KEY = 'certificate-weak-key';
const WEAK_SIGNATURE = 'certificate-weak-signature';
const UNKNOWN_ALGORITHM = 'certificate-signature-algorithm';

describe('weak', () => {
  const { privateKey: key } = testKey('rsa-2048');
  const issuer = make({ subject: 'RSA Root', key });
  const MD5_WITH_RSA = algorithmOf('1.3.14.3.2.3', nullValue());
  const SHA1_WITH_RSA = algorithmOf('1.3.14.3.2.29', nullValue());
  const signedWith = (digest: string, signatureAlgorithm: Uint8Array) => {
    return { parts: { signatureAlgorithm, signBody: (body: Uint8Array) => sign(digest, body, key) } };
  };
  const MIXED = { outerAlgorithm: algorithmOf('1.2.840.113549.1.1.4', nullValue()) };
  const saltLength = 16;

  const rows: readonly (readonly [string, Partial<MakeRequest>, readonly string[], boolean?])[] = [
    ['MD5', { digest: 'md5' }, [WEAK_SIGNATURE]],
    ['SHA-1', { digest: 'sha1' }, [`(${WEAK_SIGNATURE})`]],
    ['RSASSA-PSS', { saltLength }, []],
    ['SHA-1 with RSASSA-PSS', { digest: 'sha1', saltLength }, [`(${WEAK_SIGNATURE})`]],
    ['another digest in the mask', { saltLength, maskDigest: 'sha1' }, [UNKNOWN_ALGORITHM], false],
    ['MD5 with RSASSA-PSS', { digest: 'md5', saltLength }, [UNKNOWN_ALGORITHM]],
    ['an unknown one', signedWith('md5', MD5_WITH_RSA), [UNKNOWN_ALGORITHM]],
    ['an old name', signedWith('sha1', SHA1_WITH_RSA), [`(${WEAK_SIGNATURE})`]],
    ['two different ones', { parts: MIXED }, [], false],
  ];

  it('signatures below the root are found by their algorithms', () => {
    const all = rows.map(([, request]) => issued({ issuer, ...request }));
    const found = all.map((asked, index) => [rows[index]?.[0], codesOf(asked), build(asked).isTrusted]);
    expect(found).toEqual(rows.map(([name, , codes, isTrusted = true]) => [name, codes, isTrusted]));
    expect(acceptedByOpenssl(...all)).toEqual(rows.map(([, , , isTrusted = true]) => isTrusted));
  });

  it('signatures of the root itself do not matter', () => {
    const asked = issued({ issuer: make({ subject: 'RSA Root', key, ...signedWith('md5', MD5_WITH_RSA) }) });
    expect([build(asked).isTrusted, codesOf(asked)]).toEqual([true, []]);
  });

  const keyed = (publicKey: KeyObject | Uint8Array) => codesOf(issued({ parts: { publicKey } }));

  it.each([
    [['secp112r1', 'secp160k1', 'prime192v1', 'brainpoolP192t1', 'sect193r1', 'wap-wsg-idm-ecid-wtls9'], [WEAK_KEY]],
    [['secp224r1', 'sect233k1', 'brainpoolP256r1', 'secp256k1', 'secp521r1'], []],
  ])('EC keys are found below 224 bits, against trust: %s', (curves, codes) => {
    for (const namedCurve of curves) {
      expect([namedCurve, keyed(generateKeyPairSync('ec', { namedCurve }).publicKey)]).toEqual([namedCurve, codes]);
    }
  });

  it('EC keys with custom curve parameters are found, against trust', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' });
    const info = Buffer.from(publicKey.export({ type: 'spki', format: 'der' }));
    expect(keyed(info)).toEqual([]);
    const generator = Buffer.from('6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296', 'hex');
    // The key itself instead of the generator: then 1 is its private key (CVE-2020-0601).
    info.subarray(-64).copy(info, info.indexOf(generator));
    expect(keyed(info)).toEqual([WEAK_KEY]);
  });

  it.each([
    ['DSA', 512, [WEAK_KEY]],
    ['DSA', 1024, [`(${WEAK_KEY})`]],
    ['RSA', 768, [WEAK_KEY]],
    ['RSA', 1024, [`(${WEAK_KEY})`]],
    ['RSA', 2048, []],
  ])('%s keys of %d bits: %s', (kind, bits, codes) => {
    const integer = (length: number) => encode(0x02, Uint8Array.of(0), Buffer.alloc(length / 8, 0xa5));
    const dsa = sequence(integer(bits), integer(160), integer(bits - 8));
    const info = subjectPublicKeyInfo(sequence(objectIdentifier('1.2.840.10040.4.1'), dsa), integer(bits - 8));
    expect(keyed(kind === 'DSA' ? info : rsaKey(bits, '').publicKey)).toEqual(codes);
  });
});

const constrained = ([constraints, subject, extra]: (typeof constraintRows)[number], index: number): Asked => {
  const extensions = [...AUTHORITY, `nameConstraints=critical,${constraints}`];
  const issuer = make({ subject: `Constrained ${index}`, issuer: root, extensions });
  const leaf = make({ subject, issuer, extensions: [...PURPOSE, ...extra] });
  return { leaf, pool: [issuer], roots: [root] };
};

/** PKITS has names, DNS names, addresses and URIs of every kind: these are the cases that it lacks. */
const constraintRows: readonly (readonly [string, string, readonly string[], boolean])[] = [
  ['permitted;dirName:acme', '/C=DE/O=ACME/CN=Publisher', [], true],
  ['permitted;dirName:acme', '/C=DE/O=Acme Two/CN=Publisher', [], false],
  ['excluded;DNS:example.com', '/CN=P', ['subjectAltName=DNS:www.EXAMPLE.com'], false],
  ['permitted;email:a@example.com', '/CN=P', ['subjectAltName=email:b@example.com'], false],
  ['permitted;email:example.com', '/CN=P/emailAddress=a@other.com', [], false],
  ['excluded;URI:example.com', '/CN=P', ['subjectAltName=URI:urn:isbn:1'], false],
  ['permitted;IP:192.168.0.0/255.255.0.0', '/CN=P', ['subjectAltName=IP:192.168.3.4'], true],
  ['permitted;IP:192.168.0.0/255.255.0.0', '/CN=P', ['subjectAltName=IP:192.169.3.4'], false],
  ['permitted;RID:1.2.3', '/CN=P', ['subjectAltName=RID:1.2.3.4'], false],
];

it('name constraints permit and exclude', () => {
  const all = constraintRows.map(constrained);
  expect(all.map(codesOf)).toEqual(
    constraintRows.map(([, , , isGood]) => (isGood ? [] : ['certificate-name-constraints'])),
  );
  expect(acceptedByOpenssl(...all)).toEqual(constraintRows.map(([, , , isGood]) => isGood));
});
