import { createHash } from 'node:crypto';
import { SIGNING_CERTIFICATE_V2, SIGNING_TIME, TST_INFO } from '../../../../src/asn1/object-identifiers.ts';
import { parts, readDer } from '../../../../src/asn1/read.ts';
import {
  contextConstructed,
  encode,
  objectIdentifier,
  octetString,
  sequence,
  smallInteger,
} from '../../../../src/asn1/write.ts';
import { readCertificateFields } from '../../../../src/certificates/certificate.ts';
import type { Attribute } from '../../../../src/cms/build-signed-data.ts';
import {
  algorithm,
  attribute,
  type Digest,
  type HostileSigner,
  hostileCms,
  SHA256,
} from '../../../support/signed-files/hostile-cms.ts';
import { type IssuedCertificate, issue, testKey } from '../../../support/signed-files/pki.ts';

export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const SHA1: Digest = { oid: '1.3.14.3.2.26', name: 'sha1' };

export interface TstInfoParts {
  readonly version?: number;
  readonly policy?: string;
  readonly algorithm?: string;
  readonly digest?: Uint8Array;
  readonly serialNumber?: Uint8Array;
  readonly genTime?: string;
  /** What comes after genTime, encoded. */
  readonly rest?: readonly Uint8Array[];
}

export interface TokenParts {
  readonly info?: Uint8Array;
  readonly contentType?: string;
  /** Default: an OCTET STRING with the TSTInfo. */
  readonly content?: Uint8Array;
  readonly detached?: boolean;
  readonly attributes?: readonly Attribute[];
  readonly certificates?: readonly Uint8Array[];
  readonly signer?: HostileSigner;
  readonly algorithm?: 'SHA1' | 'SHA256';
}

const builtSigner = issue({ commonName: 'Built TSA', key: testKey('rsa-2048'), purposes: [TIME_STAMPING] });
/** Valid 2020 to 2045, self-signed. */
export const tokenSigner = (): IssuedCertificate => builtSigner;

export function buildTstInfo(signatureValue: Uint8Array, parts: TstInfoParts = {}): Uint8Array {
  const { digest = createHash('sha256').update(signatureValue).digest(), genTime = '20240601120000Z' } = parts;
  return sequence(
    smallInteger(parts.version ?? 1),
    objectIdentifier(parts.policy ?? '1.2.3.4'),
    sequence(algorithm(parts.algorithm ?? SHA256.oid), octetString(digest)),
    encode(0x02, parts.serialNumber ?? Uint8Array.of(1)),
    encode(0x18, Buffer.from(genTime)),
    ...(parts.rest ?? []),
  );
}

export function buildToken(parts: TokenParts = {}): Uint8Array {
  const { signer = tokenSigner(), info = buildTstInfo(Buffer.from('signature')), certificates = [signer.der] } = parts;
  const {
    attributes = [signingCertificateV2(signer.der)],
    contentType = TST_INFO,
    content = octetString(info),
  } = parts;
  return hostileCms({
    ...{ signer, contentType, certificates, digested: info, digest: parts.algorithm === 'SHA1' ? SHA1 : SHA256 },
    content: parts.detached ? undefined : content,
    signedAttributes: attributes.map(({ type, value }) => attribute(type, value)),
  });
}

export interface SigningCertificateParts {
  readonly digest?: Uint8Array;
  /** Default: SHA-256, which is not encoded. */
  readonly algorithm?: string;
  readonly issuerSerial?: Uint8Array;
}

export function signingCertificateV2(certificate: Uint8Array, parts: SigningCertificateParts = {}): Attribute {
  const { algorithm, issuerSerial, digest = createHash('sha256').update(certificate).digest() } = parts;
  const identifier = sequence(
    ...(algorithm === undefined ? [] : [sequence(objectIdentifier(algorithm))]),
    octetString(digest),
    ...(issuerSerial === undefined ? [] : [issuerSerial]),
  );
  return { type: SIGNING_CERTIFICATE_V2, value: sequence(sequence(identifier)) };
}

/** IssuerSerial of this certificate, or with another serial number. */
export function issuerSerialOf(certificate: Uint8Array, serialNumber?: Uint8Array): Uint8Array {
  const fields = readCertificateFields(certificate);
  return sequence(sequence(contextConstructed(4, fields.issuer)), serialNumber ?? fields.serialNumber);
}

/** The time of this moment, as `20240601120000Z`. */
export const timeNow = (): string => `${new Date().toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;

export function signingTime(text: string, tag = 0x17): Attribute {
  return { type: SIGNING_TIME, value: encode(tag, Buffer.from(text)) };
}

/** The token in BER: indefinite lengths, the content in pieces, as `openssl cms -stream` has it. */
export function streamed(token: Uint8Array): Buffer {
  const [type, tagged] = partsOf(token);
  const [version, digests, encapsulated, ...rest] = partsOf(onlyPartOf(tagged));
  const [contentType, wrapped] = partsOf(encapsulated);
  const { contents } = readDer(onlyPartOf(wrapped), 'token');
  const pieces = indefinite(0x24, octetString(contents.subarray(0, 20)), octetString(contents.subarray(20)));
  const content = indefinite(0x30, contentType, indefinite(0xa0, pieces));
  return indefinite(0x30, type, indefinite(0xa0, indefinite(0x30, version, digests, content, ...rest)));
}

type Part = Uint8Array | undefined;
const partsOf = (element: Part) =>
  parts(readDer(element ?? new Uint8Array(), 'token'), 'token').map(({ bytes }) => bytes);
const onlyPartOf = (element: Part): Uint8Array => partsOf(element)[0] ?? new Uint8Array();
const indefinite = (tag: number, ...contents: readonly Part[]) =>
  Buffer.concat([Uint8Array.of(tag, 0x80), ...contents.flatMap((part) => part ?? []), Uint8Array.of(0, 0)]);
