import { createHash, type KeyObject, sign } from 'node:crypto';
import { nullValue, objectIdentifier, octetString, sequence, setOf, smallInteger } from '../../../../src/asn1/write.ts';
import { readCertificateFields } from '../../../../src/certificates/certificate.ts';
import { type Attribute, encodeAttribute } from '../../../../src/cms/build-signed-data.ts';
import { signingTime } from './build-token.ts';

const DIGESTS = {
  md5: '1.2.840.113549.2.5',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha512: '2.16.840.1.101.3.4.2.3',
};

export interface CounterSignatureParts {
  /** Default: sha1. */
  readonly digest?: keyof typeof DIGESTS;
  /** Default: data, once. */
  readonly contentTypes?: readonly string[];
  /** Default: rsaEncryption. */
  readonly signatureAlgorithm?: string;
  /** Besides these and the digest. Default: a time of signing. */
  readonly attributes?: readonly Attribute[];
  /** Default: the usual signature. */
  readonly signs?: (signedAttributes: Uint8Array) => Uint8Array;
}

export function buildCounterSignature(
  value: Uint8Array,
  signer: { readonly der: Uint8Array; readonly privateKey: KeyObject },
  parts: CounterSignatureParts = {},
): Uint8Array {
  const { digest = 'sha1', contentTypes = ['1.2.840.113549.1.7.1'] } = parts;
  const { attributes = [signingTime('170601120000Z')] } = parts;
  const all = [
    ...contentTypes.map((type) => ({ type: '1.2.840.113549.1.9.3', value: objectIdentifier(type) })),
    { type: '1.2.840.113549.1.9.4', value: octetString(createHash(digest).update(value).digest()) },
    ...attributes,
  ];
  const set = setOf(...all.map(encodeAttribute));
  const inside = Uint8Array.from(set);
  inside[0] = 0xa0;
  const { issuer, serialNumber } = readCertificateFields(signer.der);
  return sequence(
    smallInteger(1),
    sequence(issuer, serialNumber),
    sequence(objectIdentifier(DIGESTS[digest]), nullValue()),
    inside,
    sequence(objectIdentifier(parts.signatureAlgorithm ?? '1.2.840.113549.1.1.1'), nullValue()),
    octetString((parts.signs ?? ((signed) => sign(digest, signed, signer.privateKey)))(set)),
  );
}
