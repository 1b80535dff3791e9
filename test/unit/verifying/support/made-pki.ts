/** Certificates, CRLs and OCSP answers, good and bad. Extensions are lines of a configuration of OpenSSL. */

import {
  constants,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { parts, readDer } from '../../../../src/asn1/read.ts';
import {
  bitString,
  contextConstructed,
  contextPrimitive,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  smallInteger,
} from '../../../../src/asn1/write.ts';
import { memoize } from '../../../../src/bytes/reuse.ts';
import {
  type ParsedCertificate,
  parseCertificate,
  readCertificateFields,
} from '../../../../src/certificates/certificate.ts';
import { openssl } from '../../../support/programs/openssl.ts';
import {
  extension,
  generalizedTime,
  type HostileCertificate,
  hostileCertificate,
  name,
  utcTime,
} from '../../../support/signed-files/hostile-certificates.ts';
import { pemBlock, testKey } from '../../../support/signed-files/pki.ts';

export interface Made {
  readonly parsed: ParsedCertificate;
  readonly der: Uint8Array;
  readonly pem: string;
  readonly key: KeyObject;
}

interface SigningRequest {
  readonly digest?: string;
  /** With RSASSA-PSS and a salt of so many octets. */
  readonly saltLength?: number;
  readonly maskDigest?: string;
}

export interface MakeRequest extends SigningRequest {
  /** A common name, or several attributes such as "/C=DE/CN=Name". */
  readonly subject: string;
  /** Default: self-signed. */
  readonly issuer?: Made;
  /** Default: SIGNER, and AUTHORITY for a self-signed certificate. A certificate of version 1 has none. */
  readonly extensions?: readonly string[];
  /** Default: a new key. */
  readonly key?: KeyObject;
  readonly from?: string;
  readonly to?: string;
  /** Hexadecimal, an even number of digits. */
  readonly serial?: string;
  /** These parts replace the correct ones. */
  readonly parts?: Partial<HostileCertificate>;
}

export const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
export const SIGNER = ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=codeSigning'];
export const TIME_STAMPER = ['keyUsage=critical,digitalSignature', 'extendedKeyUsage=critical,timeStamping'];

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** Valid from 2020 to 2040 by default; times as `20200101000000Z`. */
export function make(request: MakeRequest): Made {
  const { subject, issuer, key = newKey(), from = '20200101000000Z', to = '20400101000000Z' } = request;
  const { serial = `42${randomBytes(8).toString('hex')}` } = request;
  const extensions = request.extensions ?? (issuer === undefined ? AUTHORITY : SIGNER);
  const { algorithm, signed } = signing(issuer?.key ?? key, request);
  const ownName = nameFrom(subject);
  const der = hostileCertificate({
    subject: ownName,
    issuer: issuer?.parsed.fields.subject ?? ownName,
    publicKey: createPublicKey(key),
    signatureAlgorithm: algorithm,
    signBody: signed,
    extensions: extensions.length === 0 ? [] : [...keyIdentifiers(key, issuer), ...extensionsFrom(extensions)],
    validity: [time(from), time(to)],
    serialNumber: Buffer.from(serial, 'hex'),
    ...request.parts,
  });
  return { parsed: parseCertificate(der, 'made'), der, pem: pemBlock('CERTIFICATE', der), key };
}

function keyIdentifiers(key: KeyObject, issuer: Made | undefined): Uint8Array[] {
  const own = extension('2.5.29.14', octetString(keyIdentifier(key)));
  if (issuer === undefined) return [own];
  return [own, extension('2.5.29.35', sequence(contextPrimitive(0, keyIdentifier(issuer.key))))];
}

const keyIdentifier = (key: KeyObject) =>
  createHash('sha1')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest();

const time = (text: string) => (text < '2050' ? utcTime(text.slice(2)) : generalizedTime(text));

const DIGESTS: Readonly<Record<string, { readonly id: string; readonly rsa: string; readonly ecdsa: string }>> = {
  md5: { id: '1.2.840.113549.2.5', rsa: '1.2.840.113549.1.1.4', ecdsa: '' },
  sha1: { id: '1.3.14.3.2.26', rsa: '1.2.840.113549.1.1.5', ecdsa: '1.2.840.10045.4.1' },
  sha256: { id: '2.16.840.1.101.3.4.2.1', rsa: '1.2.840.113549.1.1.11', ecdsa: '1.2.840.10045.4.3.2' },
  sha384: { id: '2.16.840.1.101.3.4.2.2', rsa: '1.2.840.113549.1.1.12', ecdsa: '1.2.840.10045.4.3.3' },
  sha512: { id: '2.16.840.1.101.3.4.2.3', rsa: '1.2.840.113549.1.1.13', ecdsa: '1.2.840.10045.4.3.4' },
};

function signing(key: KeyObject, { digest = 'sha256', saltLength, maskDigest = digest }: SigningRequest) {
  const { rsa = '', ecdsa = '' } = DIGESTS[digest] ?? {};
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: saltLength ?? 0 };
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return { algorithm: algorithmOf('1.3.101.112'), signed: (body: Uint8Array) => sign(null, body, key) };
    case 'ec':
      return { algorithm: algorithmOf(ecdsa), signed: (body: Uint8Array) => sign(digest, body, key) };
    default:
      return {
        algorithm: saltLength === undefined ? algorithmOf(rsa, nullValue()) : pssWith(digest, maskDigest, saltLength),
        signed: (body: Uint8Array) => sign(digest, body, saltLength === undefined ? key : pss),
      };
  }
}

export const algorithmOf = (identifier: string, ...parameters: readonly Uint8Array[]) =>
  sequence(objectIdentifier(identifier), ...parameters);

/** SHA-1 is the default, which is not written. */
function pssWith(digest: string, maskDigest: string, saltLength: number): Uint8Array {
  const [hash, maskHash] = [digest, maskDigest].map((name) => algorithmOf(DIGESTS[name]?.id ?? '', nullValue()));
  return algorithmOf(
    '1.2.840.113549.1.1.10',
    sequence(
      ...(hash && digest !== 'sha1' ? [contextConstructed(0, hash)] : []),
      ...(maskHash && maskDigest !== 'sha1'
        ? [contextConstructed(1, algorithmOf('1.2.840.113549.1.1.8', maskHash))]
        : []),
      contextConstructed(2, smallInteger(saltLength)),
    ),
  );
}

export interface RevokedEntry {
  readonly certificate: Made;
  /** `20200101000000Z` */
  readonly date: string;
  readonly reason?: Reason | undefined;
  /** Further extensions of the entry. */
  readonly extensions?: readonly string[];
}

export type Reason = keyof typeof REASONS;

const REASONS = {
  keyCompromise: 1,
  CACompromise: 2,
  superseded: 4,
  certificateHold: 6,
  removeFromCRL: 8,
  aACompromise: 10,
} as const;

const enumerated = (value: number) => encode(0x0a, Uint8Array.of(value));

export interface CrlRequest extends SigningRequest {
  readonly issuer: Made;
  readonly revoked?: readonly RevokedEntry[];
  /** `20260101000000Z` */
  readonly from?: string;
  readonly to?: string;
  readonly extensions?: readonly string[];
}

/** DER. */
export function makeCrl(request: CrlRequest): Buffer {
  const { issuer, revoked = [], from = '20260101000000Z', to = '20270101000000Z', extensions = [] } = request;
  const { algorithm, signed } = signing(issuer.key, request);
  const body = sequence(
    smallInteger(1),
    algorithm,
    issuer.parsed.fields.subject,
    time(from),
    time(to),
    ...(revoked.length === 0 ? [] : [sequence(...revoked.map(crlEntry))]),
    ...(extensions.length === 0 ? [] : [contextConstructed(0, sequence(...extensionsFrom(extensions)))]),
  );
  return Buffer.from(sequence(body, algorithm, bitString(signed(body))));
}

function crlEntry({ certificate, date, reason, extensions = [] }: RevokedEntry): Uint8Array {
  const all = [
    ...(reason === undefined ? [] : [extension('2.5.29.21', enumerated(REASONS[reason]))]),
    ...extensionsFrom(extensions),
  ];
  const { serialNumber } = certificate.parsed.fields;
  return sequence(serialNumber, time(date), ...(all.length === 0 ? [] : [sequence(...all)]));
}

export type OcspStatus = 'good' | 'unknown' | Pick<RevokedEntry, 'date' | 'reason'>;

export interface OcspAnswer {
  readonly signer: Made;
  readonly statuses: readonly OcspStatus[];
  readonly producedAt: Date;
}

const DAY = 24 * 60 * 60 * 1000;
const timeOf = (date: Date) => generalizedTime(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`);

/** A DER answer to the request, good for a week. The signer's certificate is in it. */
export function answerOcsp(request: Uint8Array, { signer, statuses, producedAt }: OcspAnswer): Buffer {
  const { algorithm, signed } = signing(signer.key, {});
  const [at, until] = [producedAt, new Date(producedAt.getTime() + 7 * DAY)].map(timeOf) as [Uint8Array, Uint8Array];
  const answers = statuses.map((status) => {
    return sequence(certificateIn(request), statusOf(status), at, contextConstructed(0, until));
  });
  const responder = contextConstructed(1, signer.parsed.fields.subject);
  const body = sequence(responder, at, sequence(...answers));
  const certificates = contextConstructed(0, sequence(signer.der));
  const basic = sequence(body, algorithm, bitString(signed(body)), certificates);
  const typed = sequence(objectIdentifier('1.3.6.1.5.5.7.48.1.1'), octetString(basic));
  return Buffer.from(sequence(enumerated(0), contextConstructed(0, typed)));
}

/** The CertID: the first member of each list in the request. */
function certificateIn(request: Uint8Array): Uint8Array {
  let element = readDer(request, 'request');
  for (let depth = 0; depth < 4; depth += 1) element = parts(element, 'request')[0] ?? element;
  return element.bytes;
}

function statusOf(status: OcspStatus): Uint8Array {
  if (typeof status === 'string') return encode(status === 'good' ? 0x80 : 0x82);
  const reason = status.reason && contextConstructed(0, enumerated(REASONS[status.reason]));
  return contextConstructed(1, generalizedTime(status.date), ...(reason ? [reason] : []));
}

const EXTENSIONS_KEY = testKey('ec').privateKey.export({ type: 'pkcs8', format: 'pem' });
/** Newer versions of OpenSSL add them without being asked. */
const KEY_IDENTIFIERS = ['2.5.29.14', '2.5.29.35'];

/** Fields of a certificate, made by OpenSSL. A directory name in the lines must be that of the section `acme`. */
const made = memoize(
  1000,
  (asked: { readonly subject: string; readonly lines: readonly string[] }) => JSON.stringify(asked),
  ({ subject, lines }) => {
    const sections = ['[req]', 'distinguished_name=acme', 'x509_extensions=made', '[acme]', 'C=DE', 'O=Acme', '[made]'];
    const files = { 'key.pem': EXTENSIONS_KEY, 'made.cnf': `${[...sections, ...lines].join('\n')}\n` };
    const command = 'req -x509 -key key.pem -config made.cnf -outform DER -subj'.split(' ');
    return readCertificateFields(openssl([...command, subject], files));
  },
);

/** Each from a line such as `keyUsage=critical,digitalSignature` or `1.2.3=DER:0500`. */
function extensionsFrom(lines: readonly string[]): readonly Uint8Array[] {
  if (lines.length === 0) return [];
  const { extensions, criticalExtensions } = made({ subject: '/CN=any', lines });
  const own = [...extensions].filter(([type]) => !KEY_IDENTIFIERS.includes(type));
  return own.map(([type, value]) => extension(type, value, criticalExtensions.includes(type)));
}

/** From a common name, or several attributes such as "/C=DE/CN=Name". */
function nameFrom(text: string): Uint8Array {
  return text.startsWith('/') ? made({ subject: text, lines: [] }).subject : name(text);
}
