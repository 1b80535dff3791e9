import { createHash, sign } from 'node:crypto';
import { SIGNING_CERTIFICATE_V2, SIGNING_TIME, TST_INFO } from '../../../../src/asn1/object-identifiers.ts';
import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  smallInteger,
} from '../../../../src/asn1/write.ts';
import { readCertificateFields } from '../../../../src/certificates/certificate.ts';
import { type Attribute, buildSignedAttributes, buildSignedData } from '../../../../src/cms/build-signed-data.ts';
import { NODE_DIGEST_NAME } from '../../../../src/crypto/algorithms.ts';
import { type IssuedCertificate, issue, testKey } from '../../../support/signed-files/pki.ts';

export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const SHA256 = '2.16.840.1.101.3.4.2.1';

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
  readonly signer?: IssuedCertificate;
  readonly algorithm?: 'SHA1' | 'SHA256';
}

let signer: IssuedCertificate | undefined;

/** Valid 2020 to 2045, self-signed. */
export function tokenSigner(): IssuedCertificate {
  signer ??= issue({ commonName: 'Built TSA', key: testKey('rsa-2048'), purposes: [TIME_STAMPING] });
  return signer;
}

export function buildTstInfo(signatureValue: Uint8Array, parts: TstInfoParts = {}): Uint8Array {
  const { digest = createHash('sha256').update(signatureValue).digest(), genTime = '20240601120000Z' } = parts;
  return sequence(
    smallInteger(parts.version ?? 1),
    objectIdentifier(parts.policy ?? '1.2.3.4'),
    sequence(sequence(objectIdentifier(parts.algorithm ?? SHA256), nullValue()), octetString(digest)),
    encode(0x02, parts.serialNumber ?? Uint8Array.of(1)),
    encode(0x18, Buffer.from(genTime)),
    ...(parts.rest ?? []),
  );
}

export function buildToken(parts: TokenParts = {}): Uint8Array {
  const certificate = parts.signer ?? tokenSigner();
  const info = parts.info ?? buildTstInfo(Buffer.from('signature'));
  const contentType = parts.contentType ?? TST_INFO;
  const { algorithm = 'SHA256' } = parts;
  const digestName = NODE_DIGEST_NAME[algorithm];
  const digest = createHash(digestName).update(info).digest();
  const attributes = parts.attributes ?? [signingCertificateV2(certificate.der)];
  const signedAttributes = buildSignedAttributes(contentType, digest, attributes);
  const value = parts.detached ? undefined : (parts.content ?? octetString(info));
  return buildSignedData({
    algorithm,
    content: { type: contentType, value },
    certificates: parts.certificates ?? [certificate.der],
    signer: readCertificateFields(certificate.der),
    signedAttributes,
    signature: sign(digestName, signedAttributes, certificate.privateKey),
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

export function signingTime(text: string, tag = 0x17): Attribute {
  return { type: SIGNING_TIME, value: encode(tag, Buffer.from(text)) };
}
