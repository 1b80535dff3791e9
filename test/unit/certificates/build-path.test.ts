/** Building paths through certificates that openssl made; openssl verify is the outside check. */

import { constants, createPrivateKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  sequence,
  smallInteger,
} from '../../../src/asn1/write.ts';
import { buildPath, type CertificatePath } from '../../../src/certificates/build-path.ts';
import { type ParsedCertificate, parseCertificate } from '../../../src/certificates/certificate.ts';
import type { Purpose } from '../../../src/certificates/purpose.ts';
import { openssl } from '../../support/programs/openssl.ts';
import {
  AUTHORITY as CA,
  CODE_SIGNING_PURPOSE,
  type HostileCertificate,
  hostileCertificate,
  name,
  subjectPublicKeyInfo,
} from '../../support/signed-files/hostile-certificates.ts';
import { pemBlock } from '../../support/signed-files/pki.ts';
import { AUTHORITY, type Made, make, newKey, oneRsaKey, TIME_STAMPER } from '../verifying/support/openssl-pki.ts';

const NOW = new Date('2026-06-01T00:00:00Z');
const LATER = new Date('2035-06-01T00:00:00Z');

interface Asked {
  readonly leaf: Made;
  readonly pool?: readonly Made[];
  readonly roots: readonly Made[];
  readonly at?: Date;
  readonly purpose?: Purpose;
}

function build({ leaf, pool = [], roots, at = NOW, purpose = 'code-signing' }: Asked): CertificatePath {
  return buildPath(leaf.parsed, pool.map(parsedOf), roots.map(parsedOf), at, purpose);
}

const WEAK_KEY = 'certificate-weak-key';
const PSS = ['-sigopt', 'rsa_padding_mode:pss'];
const MASK_BY_SHA1 = [...PSS, '-sigopt', 'rsa_mgf1_md:sha1'];

const parsedOf = ({ parsed }: Made): ParsedCertificate => parsed;
const namesOf = ({ certificates }: CertificatePath) => certificates.map(({ name }) => name);
/** Codes of findings; those of warnings in brackets. */
const codesOf = ({ findings }: CertificatePath) =>
  findings.map(({ code, weight }) => (weight === 'untrusted' ? code : `(${code})`));

/** Returns OK, or the number of the first error. */
function verdictOfOpenssl({ leaf, pool = [], roots, at = NOW, purpose }: Asked): string {
  const untrusted = pool.length === 0 ? [] : ['-untrusted', 'pool.pem'];
  const purposes = purpose === 'time-stamping' ? ['-purpose', 'timestampsign'] : [];
  try {
    openssl(
      ['verify', '-attime', String(at.getTime() / 1000), '-CAfile', 'roots.pem', '-no-CApath', '-no-CAstore'].concat(
        ['-auth_level', '0'],
        untrusted,
        purposes,
        ['leaf.pem'],
      ),
      { 'leaf.pem': leaf.pem, 'roots.pem': joined(roots), ...(pool.length === 0 ? {} : { 'pool.pem': joined(pool) }) },
    );
    return 'OK';
  } catch (thrown) {
    return /error (\d+) at/.exec(String((thrown as { stderr?: unknown }).stderr))?.[1] ?? String(thrown);
  }
}

const joined = (certificates: readonly Made[]) => certificates.map(({ pem }) => pem).join('');

const root = make({ subject: 'Root' });
const intermediate = make({ subject: 'Issuing CA', issuer: root, extensions: AUTHORITY });
const leaf = make({ subject: 'Publisher', issuer: intermediate });

describe('a path', () => {
  it('leads from the leaf to the root, whatever else is in the pool and in which order', () => {
    const stranger = make({ subject: 'Stranger' });
    const asked = { leaf, pool: [stranger, intermediate, leaf, root, intermediate], roots: [stranger, root] };
    const path = build(asked);
    expect(namesOf(path)).toEqual(['Publisher', 'Issuing CA', 'Root']);
    expect([path.isTrusted, codesOf(path)]).toEqual([true, []]);
    expect(verdictOfOpenssl(asked)).toBe('OK');
  });

  it('does not take a root of the same name and another key for the trusted one', () => {
    const asked = { leaf, pool: [intermediate, root], roots: [make({ subject: 'Root' })] };
    expect(build(asked).isTrusted).toBe(false);
    expect(verdictOfOpenssl(asked)).not.toBe('OK');
  });

  it('is trusted by a root renewed with the same key', () => {
    const renewed = make({ subject: 'Root', key: root.key, to: '20450101000000Z' });
    const path = build({ leaf, pool: [intermediate, root], roots: [renewed] });
    expect([path.isTrusted, path.certificates.at(-1)]).toEqual([true, renewed.parsed]);
  });

  it('may end at an intermediate, or at the leaf, which is trusted as such', () => {
    expect(namesOf(build({ leaf, roots: [intermediate] }))).toEqual(['Publisher', 'Issuing CA']);
    expect(build({ leaf, roots: [leaf] })).toMatchObject({ isTrusted: true, certificates: [leaf.parsed] });
  });

  it.each([
    ['for another purpose', { extensions: ['extendedKeyUsage=serverAuth'] }],
    ['that has expired', { to: '20250101000000Z' }],
  ])('is not trusted by a certificate of the leaf’s own name and key %s', (_, request) => {
    const trusted = make({ subject: 'Own', extensions: ['extendedKeyUsage=codeSigning'], ...request });
    const own = make({ subject: 'Own', key: trusted.key, extensions: ['extendedKeyUsage=codeSigning'] });
    const asked = { leaf: own, roots: [trusted] };
    expect(build(asked).isTrusted).toBe(false);
    expect(verdictOfOpenssl(asked)).not.toBe('OK');
  });

  it('includes the cross-signed certificate of an authority whose own root is not trusted', () => {
    const elder = make({ subject: 'Elder Root' });
    const cross = make({ subject: 'Root', key: root.key, issuer: elder, extensions: AUTHORITY });
    const asked = { leaf, pool: [root, cross, intermediate], roots: [elder] };
    expect(namesOf(build(asked))).toEqual(['Publisher', 'Issuing CA', 'Root', 'Elder Root']);
    expect(build(asked).isTrusted).toBe(true);
    // It does not turn back from the first root it finds.
    expect(verdictOfOpenssl({ ...asked, pool: [cross, intermediate] })).toBe('OK');
  });

  it('avoids an expired issuer for a valid one of the same name and key', () => {
    const { key } = intermediate;
    const to = '20210101000000Z';
    const expired = make({ subject: 'Issuing CA', key, issuer: root, extensions: AUTHORITY, to });
    const isGood = { isTrusted: true, findings: [] };
    expect(build({ leaf, pool: [expired, intermediate], roots: [root] })).toMatchObject(isGood);
    expect(build({ leaf, pool: [intermediate, expired], roots: [root] })).toMatchObject(isGood);
  });

  it('does not follow a name whose key did not sign', () => {
    const impostor = make({ subject: 'Issuing CA', issuer: root, extensions: AUTHORITY });
    expect(build({ leaf, pool: [impostor], roots: [root] }).certificates).toEqual([leaf.parsed]);
  });
});

describe('the time', () => {
  it('is the requested one: an expired leaf is good within its lifetime', () => {
    const short = make({ subject: 'Short', issuer: intermediate, to: '20300101000000Z' });
    const asked = { leaf: short, pool: [intermediate], roots: [root] };
    expect(codesOf(build(asked))).toEqual([]);
    expect(codesOf(build({ ...asked, at: LATER }))).toEqual(['certificate-expired']);
    expect(verdictOfOpenssl({ ...asked, at: LATER })).toBe('10');
  });

  it('allows an expired trusted root, with a note', () => {
    const old = make({ subject: 'Old Root', to: '20250101000000Z' });
    const path = build({ leaf: make({ subject: 'Publisher', issuer: old }), roots: [old] });
    expect([path.isTrusted, codesOf(path)]).toEqual([true, ['(certificate-expired)']]);
  });

  it('counts for a leaf that is trusted as itself', () => {
    const own = make({ subject: 'Own', to: '20250101000000Z', extensions: ['extendedKeyUsage=codeSigning'] });
    expect(codesOf(build({ leaf: own, roots: [own] }))).toEqual(['certificate-expired']);
  });
});

describe('an issuer', () => {
  const under = (extensions: readonly string[]) => {
    const issuer = make({ subject: 'Odd CA', issuer: root, extensions });
    return { leaf: make({ subject: 'Publisher', issuer }), pool: [issuer], roots: [root] };
  };

  it.each(['basicConstraints=critical,CA:FALSE', 'keyUsage=keyCertSign'])('with only %s is no authority', (line) => {
    expect(codesOf(build(under([line])))).toEqual(['certificate-not-authority']);
  });

  it('does not count itself under a new key against its own path length', () => {
    const authority = ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=keyCertSign'];
    const first = make({ subject: 'Rolling', issuer: root, extensions: authority });
    const second = make({ subject: 'Rolling', issuer: first, extensions: authority });
    const asked = { leaf: make({ subject: 'Publisher', issuer: second }), pool: [first, second], roots: [root] };
    expect([namesOf(build(asked)).length, codesOf(build(asked))]).toEqual([4, []]);
    expect(verdictOfOpenssl(asked)).toBe('OK');
  });

  it('limits the purposes below it by its own', () => {
    expect(codesOf(build(under([...AUTHORITY, 'extendedKeyUsage=serverAuth'])))).toEqual(['certificate-purpose']);
    expect(codesOf(build(under([...AUTHORITY, 'extendedKeyUsage=codeSigning'])))).toEqual([]);
  });

  it('of version 1 counts as a trusted root only', () => {
    const key = newKey();
    const csr = openssl(['req', '-new', '-key', 'k', '-subj', '/CN=Old', '-config', '/dev/null'], { k: key });
    const pem = openssl(['x509', '-req', '-signkey', 'k', '-in', 'csr', '-days', '9000'], { k: key, csr }).toString();
    const old = { ...root, pem, key, ...madeFrom(pem) };
    const signer = make({ subject: 'Publisher', issuer: old });
    // It begins today, whatever today is.
    const at = new Date(old.parsed.notBefore.getTime() + 1000);
    expect(codesOf(build({ leaf: signer, roots: [old], at }))).toEqual([]);
    expect(codesOf(build({ leaf: signer, pool: [old], roots: [], at }))).toEqual(['certificate-not-authority']);
  });
});

function madeFrom(pem: string): Pick<Made, 'parsed' | 'der'> {
  const der = new Uint8Array(new X509Certificate(pem).raw);
  return { der, parsed: parseCertificate(der, 'made') };
}

describe('the purpose', () => {
  it('of the leaf is the requested one', () => {
    const server = make({ subject: 'Server', issuer: root, extensions: ['extendedKeyUsage=serverAuth'] });
    expect(codesOf(build({ leaf: server, roots: [root] }))).toEqual(['certificate-purpose']);
    const noUsage = make({ subject: 'Encipherer', issuer: root, extensions: ['keyUsage=keyEncipherment'] });
    expect(codesOf(build({ leaf: noUsage, roots: [root] }))).toEqual(['certificate-purpose']);
  });

  it('of an authority for timestamps must be named', () => {
    const stamp = (extensions: readonly string[]): Asked => {
      const stamper = make({ subject: 'Stamper', issuer: root, extensions });
      return { leaf: stamper, roots: [root], purpose: 'time-stamping' };
    };
    const good = stamp(TIME_STAMPER);
    expect([codesOf(build(good)), verdictOfOpenssl(good)]).toEqual([[], 'OK']);
    for (const extension of ['keyUsage=digitalSignature', 'extendedKeyUsage=anyExtendedKeyUsage']) {
      expect(codesOf(build(stamp([extension])))).toEqual(['certificate-purpose']);
      expect(verdictOfOpenssl(stamp([extension]))).not.toBe('OK');
    }
    expect(codesOf(build(stamp(['extendedKeyUsage=timeStamping'])))).toEqual(['(certificate-purpose)']);
    const agreeing = stamp(['keyUsage=keyAgreement', 'extendedKeyUsage=critical,timeStamping']);
    expect(codesOf(build(agreeing))).toEqual(['certificate-purpose']);
  });
});

describe('extensions', () => {
  it('that are critical and unknown count against trust', () => {
    const odd = make({ subject: 'Odd', issuer: root, extensions: ['1.2.3.4.5=critical,DER:0500'] });
    expect(codesOf(build({ leaf: odd, roots: [root] }))).toEqual(['certificate-critical-extension']);
  });

  it('that are damaged are a finding', () => {
    const odd = make({ subject: 'Odd', issuer: root, extensions: ['2.5.29.37=DER:040100'] });
    expect(codesOf(build({ leaf: odd, roots: [root] }))).toEqual(['certificate-malformed']);
  });
});

describe('weak', () => {
  it('digests below the root are found: MD5 against trust, SHA-1 as a warning', () => {
    const key = oneRsaKey(2048); // there is no ECDSA with MD5
    const strong = make({ subject: 'RSA Root', key });
    const signed = (digest: string): Asked => {
      return { leaf: make({ subject: 'Publisher', issuer: strong, digest }), roots: [strong] };
    };
    expect(codesOf(build(signed('md5')))).toEqual(['certificate-weak-signature']);
    expect(codesOf(build(signed('sha1')))).toEqual(['(certificate-weak-signature)']);
    const old = make({ subject: 'Old Root', key, digest: 'md5' });
    const asked = { leaf: make({ subject: 'Publisher', issuer: old }), roots: [old] };
    expect([build(asked).isTrusted, codesOf(build(asked))]).toEqual([true, []]);
  });

  it.each<[string, string, readonly string[], readonly string[]]>([
    ['RSASSA-PSS with SHA-256', 'sha256', PSS, []],
    ['RSASSA-PSS with SHA-1', 'sha1', PSS, ['(certificate-weak-signature)']],
    ['RSASSA-PSS with SHA-256, its mask by SHA-1', 'sha256', MASK_BY_SHA1, ['certificate-signature-algorithm']],
  ])('signatures by %s are accepted only where the digests are known and strong', (_, digest, args, codes) => {
    const issuer = make({ subject: 'RSA Root', key: oneRsaKey(2048) });
    const asked = { leaf: make({ subject: 'Publisher', issuer, digest, args }), roots: [issuer] };
    expect(codesOf(build(asked))).toEqual(codes);
    // Without its security levels, openssl accepts any digest that it knows.
    expect(verdictOfOpenssl(asked)).toBe('OK');
  });

  /** A certificate of `subject` that the key signed, its algorithms and its signature as given. */
  const handmade = (subject: string, parts: Partial<HostileCertificate>): Made => {
    const der = hostileCertificate({
      subject: name(subject),
      issuer: root.parsed.fields.subject,
      publicKey: root.parsed.fields.publicKeyInfo,
      extensions: [CODE_SIGNING_PURPOSE],
      ...parts,
    });
    return { ...root, der, pem: pemBlock('CERTIFICATE', der), parsed: parseCertificate(der, 'made') };
  };
  const algorithm = (oid: string, parameters = nullValue()) => sequence(objectIdentifier(oid), parameters);
  const MD5_WITH_RSA = algorithm('1.3.14.3.2.3');

  it('signatures by algorithms that are not on the list count against trust, except that of the root', () => {
    const key = oneRsaKey(2048);
    const issuer = make({ subject: 'RSA Root', key });
    const signedBy = (
      signatureAlgorithm: Uint8Array,
      digest: string,
      options = {},
      outerAlgorithm = signatureAlgorithm,
    ) => {
      const signBody = (body: Uint8Array) => sign(digest, body, { key, ...options });
      const parts = { issuer: issuer.parsed.fields.subject, signatureAlgorithm, outerAlgorithm, signBody };
      const asked = { leaf: handmade('Publisher', parts), roots: [issuer] };
      return [build(asked).isTrusted, codesOf(build(asked)), verdictOfOpenssl(asked)];
    };
    const unknown = ['certificate-signature-algorithm'];
    expect(signedBy(MD5_WITH_RSA, 'md5')).toEqual([true, unknown, 'OK']);
    expect(signedBy(algorithm('1.3.14.3.2.29'), 'sha1')).toEqual([true, ['(certificate-weak-signature)'], 'OK']);

    const md5 = algorithm('1.2.840.113549.2.5');
    const mask = algorithm('1.2.840.113549.1.1.8', md5);
    const parameters = [md5, mask, smallInteger(16)].map((value, tag) => contextConstructed(tag, value));
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 16 };
    expect(signedBy(algorithm('1.2.840.113549.1.1.10', sequence(...parameters)), 'md5', pss)).toEqual([
      true,
      unknown,
      'OK',
    ]);

    const [inner, outer] = [algorithm('1.2.840.113549.1.1.11'), algorithm('1.2.840.113549.1.1.4')];
    expect(signedBy(inner, 'md5', {}, outer)).toEqual([false, [], '7']);

    const { publicKeyInfo: publicKey, subject } = issuer.parsed.fields;
    const own = { subject, issuer: subject, publicKey, signatureAlgorithm: MD5_WITH_RSA, extensions: [CA] };
    const old = { ...handmade('', { ...own, signBody: (body) => sign('md5', body, key) }), key };
    const asked = { leaf: make({ subject: 'Publisher', issuer: old }), roots: [old] };
    expect([build(asked).isTrusted, codesOf(build(asked))]).toEqual([true, []]);
  });

  const keyed = (publicKey: KeyObject | Uint8Array) => {
    const leaf = handmade('Publisher', { publicKey, issuerKey: createPrivateKey(root.key) });
    return codesOf(build({ leaf, roots: [root] }));
  };

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

  it('DSA keys are found as those of RSA are', () => {
    const dsa = (bits: number) => {
      const integer = (length: number) => encode(0x02, Uint8Array.of(0), Buffer.alloc(length / 8, 0xa5));
      const parameters = sequence(integer(bits), integer(160), integer(bits - 8));
      return keyed(
        subjectPublicKeyInfo(sequence(objectIdentifier('1.2.840.10040.4.1'), parameters), integer(bits - 8)),
      );
    };
    expect([dsa(512), dsa(1024), dsa(2048)]).toEqual([[WEAK_KEY], [`(${WEAK_KEY})`], []]);
  });

  it('RSA keys are found: below 1024 bits against trust, below 2048 as a warning', () => {
    const keyed = (bits: number) =>
      codesOf(build({ leaf: make({ subject: 'P', issuer: root, key: oneRsaKey(bits) }), roots: [root] }));
    expect(keyed(768)).toEqual(['certificate-weak-key']);
    expect(keyed(1024)).toEqual(['(certificate-weak-key)']);
    expect(keyed(2048)).toEqual([]);
  });
});

/** PKITS has names, DNS names, addresses and URIs of every kind: these are the cases that it lacks. */
describe('name constraints', () => {
  const ACME = '[dir]\nC=DE\nO=Acme';
  const under = (constraints: string, subject: string, extra: readonly string[] = []): Asked => {
    const extensions = [...AUTHORITY, `nameConstraints=critical,${constraints}`];
    const issuer = make({ subject: 'Constrained', issuer: root, extensions, sections: ACME });
    const leaf = make({ subject, issuer, extensions: ['extendedKeyUsage=codeSigning', ...extra] });
    return { leaf, pool: [issuer], roots: [root] };
  };

  it.each([
    ['permitted;dirName:dir', '/C=DE/O=ACME/CN=Publisher', [], true],
    ['permitted;dirName:dir', '/C=DE/O=Acme Two/CN=Publisher', [], false],
    ['permitted;dirName:dir', '/C=DE', [], false],
    ['excluded;DNS:example.com', '/CN=P', ['subjectAltName=DNS:www.EXAMPLE.com'], false],
    ['permitted;email:a@example.com', '/CN=P', ['subjectAltName=email:b@example.com'], false],
    ['permitted;email:example.com', '/CN=P/emailAddress=a@other.com', [], false],
    ['excluded;URI:example.com', '/CN=P', ['subjectAltName=URI:urn:isbn:1'], false],
    ['permitted;IP:192.168.0.0/255.255.0.0', '/CN=P', ['subjectAltName=IP:192.168.3.4'], true],
    ['permitted;IP:192.168.0.0/255.255.0.0', '/CN=P', ['subjectAltName=IP:192.169.3.4'], false],
    ['permitted;IP:192.168.0.0/255.255.0.0', '/CN=P', ['subjectAltName=IP:::1'], false],
    ['permitted;RID:1.2.3', '/CN=P', ['subjectAltName=RID:1.2.3.4'], false],
  ])('%s: %s %s', (constraints, subject, extra, isGood) => {
    const asked = under(constraints, subject, extra);
    expect(codesOf(build(asked))).toEqual(isGood ? [] : ['certificate-name-constraints']);
    expect(verdictOfOpenssl(asked) === 'OK').toBe(isGood);
  });
});
