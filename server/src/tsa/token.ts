/** Makes timestamp tokens: TSTInfo (RFC 3161, section 2.4.2) inside CMS SignedData (RFC 5652), signed in the HSM. */

import { createHash } from 'node:crypto';
import { type BaseBlock, Integer, Null, OctetString, Sequence } from 'asn1js';
import {
  encode,
  encoded,
  exact,
  explicit,
  generalizedTime,
  implicitSetOf,
  objectIdentifier,
  parse,
  setOf,
  time,
} from '../certificates/der.ts';
import type { SigningKey } from '../keys/key-store.ts';
import { POLICY, type TimestampQuery } from './request.ts';

const OID = {
  signedData: '1.2.840.113549.1.7.2',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  sha256: '2.16.840.1.101.3.4.2.1',
  rsaEncryption: '1.2.840.113549.1.1.1',
} as const;

export interface TimestampAuthority {
  readonly key: SigningKey;
  /** DER: the authority's own certificate, its issuer, which is the root. */
  readonly chain: readonly [leaf: Uint8Array, ...issuers: Uint8Array[]];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface Moment {
  readonly time: Date;
  /** Of the token; no two of an authority may be the same. Positive when read as a signed integer. */
  readonly serialNumber: Uint8Array;
}

/** What the authority's certificate gives to every token, DER. */
interface Signer {
  /** IssuerAndSerialNumber. */
  readonly identifier: Uint8Array;
  /** SigningCertificateV2. */
  readonly signingCertificate: Uint8Array;
}

/** Makes one token. @returns DER @throws `hsm-failed` */
export type IssueToken = (query: TimestampQuery, moment: Moment) => Promise<Buffer>;

export function createTokens({ key, chain }: TimestampAuthority): IssueToken {
  const signer = signerOf(chain[0]);
  return async (query, moment) => {
    const info = encode(tstInfo(query, moment));
    const attributes = signedAttributes(signer, info, moment.time);
    const digest = sha256(encode(setOf(attributes))); // over SET OF, whatever tag they have in the SignerInfo (RFC 5652, 5.4)
    const signature = await key.sign('SHA256', digest);
    const content = explicit(0, new OctetString({ valueHex: exact(info) }));
    const signedData = new Sequence({
      value: [
        new Integer({ value: 3 }), // the content is other than id-data (RFC 5652, 5.1)
        setOf([algorithm(OID.sha256)]),
        new Sequence({ value: [objectIdentifier(OID.tstInfo), content] }),
        ...(query.certReq ? [implicitSetOf(0, chain.map(encoded))] : []),
        setOf([signerInfo(signer, attributes, signature)]),
      ],
    });
    return encode(new Sequence({ value: [objectIdentifier(OID.signedData), explicit(0, signedData)] }));
  };
}

function tstInfo({ imprint, nonce }: TimestampQuery, { time: at, serialNumber }: Moment): Sequence {
  return new Sequence({
    value: [
      new Integer({ value: 1 }),
      objectIdentifier(POLICY),
      encoded(imprint),
      new Integer({ valueHex: exact(serialNumber) }),
      generalizedTime(at),
      ...(nonce === undefined ? [] : [encoded(nonce)]),
    ],
  });
}

function signedAttributes(signer: Signer, info: Uint8Array, at: Date): readonly BaseBlock[] {
  const attribute = (oid: string, value: BaseBlock) => new Sequence({ value: [objectIdentifier(oid), setOf([value])] });
  return [
    attribute(OID.contentType, objectIdentifier(OID.tstInfo)),
    attribute(OID.messageDigest, new OctetString({ valueHex: exact(sha256(info)) })),
    attribute(OID.signingTime, time(at)),
    attribute(OID.signingCertificateV2, encoded(signer.signingCertificate)),
  ];
}

function signerInfo(signer: Signer, attributes: readonly BaseBlock[], signature: Uint8Array): Sequence {
  return new Sequence({
    value: [
      new Integer({ value: 1 }),
      encoded(signer.identifier),
      algorithm(OID.sha256),
      implicitSetOf(0, attributes),
      algorithm(OID.rsaEncryption),
      new OctetString({ valueHex: exact(signature) }),
    ],
  });
}

function signerOf(leaf: Uint8Array): Signer {
  const outer = parse(leaf);
  const toBeSigned = outer instanceof Sequence ? outer.valueBlock.value[0] : undefined;
  const [, serialNumber, , issuer] = toBeSigned instanceof Sequence ? toBeSigned.valueBlock.value : [];
  if (serialNumber === undefined || issuer === undefined) throw new TypeError('a certificate without its issuer');
  // ESSCertIDv2 (RFC 5035): SHA-256 is the default for its digest, and so left out.
  const issuerSerial = new Sequence({ value: [new Sequence({ value: [explicit(4, issuer)] }), serialNumber] });
  const certificate = new Sequence({ value: [new OctetString({ valueHex: exact(sha256(leaf)) }), issuerSerial] });
  return {
    identifier: encode(new Sequence({ value: [issuer, serialNumber] })),
    signingCertificate: encode(new Sequence({ value: [new Sequence({ value: [certificate] })] })),
  };
}

function algorithm(oid: string): Sequence {
  return new Sequence({ value: [objectIdentifier(oid), new Null()] });
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
