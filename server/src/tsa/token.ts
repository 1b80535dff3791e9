/** Makes timestamp tokens: TSTInfo (RFC 3161, section 2.4.2) inside CMS SignedData (RFC 5652), signed in the HSM. */

import { createHash } from 'node:crypto';
import {
  Set as Asn1Set,
  type BaseBlock,
  Integer,
  Null,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
} from 'asn1js';
import {
  AlgorithmIdentifier,
  Attribute,
  Certificate,
  ContentInfo,
  EncapsulatedContentInfo,
  GeneralName,
  GeneralNames,
  IssuerAndSerialNumber,
  IssuerSerial,
  id_eContentType_TSTInfo,
  SignedAndUnsignedAttributes,
  SignedData,
  SignerInfo,
  TSTInfo,
} from 'pkijs';
import { encode, time, wholeSeconds } from '../certificates/x509.ts';
import type { SigningKey } from '../keys/key-store.ts';
import { POLICY, type TimestampQuery } from './messages.ts';

const OID = {
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

/** Makes one token. @throws `hsm-failed` */
export type IssueToken = (query: TimestampQuery, moment: Moment) => Promise<ContentInfo>;

export function createTokens({ key, chain }: TimestampAuthority): IssueToken {
  const leaf = Certificate.fromBER(chain[0]);
  const { issuer, serialNumber } = leaf;
  const sid = new IssuerAndSerialNumber({ issuer, serialNumber });
  const signingCertificate = attribute(OID.signingCertificateV2, signingCertificateV2(leaf, sha256(chain[0])));
  const certificates = certificateSet(chain);
  return async (query, moment) => {
    const info = tstInfo(query, moment).toSchema().toBER();
    // SET OF in DER is sorted by encoding (X.690, 11.6): these are, because their lengths ascend.
    const attributes = [
      attribute(OID.contentType, new ObjectIdentifier({ value: id_eContentType_TSTInfo })),
      attribute(OID.signingTime, time(moment.time).toSchema()),
      attribute(OID.messageDigest, new OctetString({ valueHex: sha256(info) })),
      signingCertificate,
    ];
    // The digest covers a SET OF, although the SignerInfo tags the attributes as [0] (RFC 5652, 5.4).
    const digest = sha256(encode(new Asn1Set({ value: attributes.map((each) => each.toSchema()) })));
    const encapContentInfo = new EncapsulatedContentInfo({ eContentType: id_eContentType_TSTInfo });
    encapContentInfo.eContent = new OctetString({ valueHex: info }); // the constructor would cut it in pieces, as DER forbids
    const signedData = new SignedData({
      digestAlgorithms: [algorithm(OID.sha256)],
      encapContentInfo,
      signerInfos: [
        new SignerInfo({
          version: 1,
          sid,
          digestAlgorithm: algorithm(OID.sha256),
          signedAttrs: new SignedAndUnsignedAttributes({ type: 0, attributes }),
          signatureAlgorithm: algorithm(OID.rsaEncryption),
          signature: new OctetString({ valueHex: await key.sign('SHA256', digest) }),
        }),
      ],
    });
    const content = signedData.toSchema(true);
    if (query.certReq) content.valueBlock.value.splice(-1, 0, certificates);
    return new ContentInfo({ contentType: ContentInfo.SIGNED_DATA, content });
  };
}

/** `[0] IMPLICIT` of a SET OF, its members sorted, encoded once: pkijs would parse and encode them for every token, 1.1 of 2.0 ms. */
function certificateSet(chain: readonly Uint8Array[]): BaseBlock {
  const valueHex = Buffer.concat([...chain].sort(Buffer.compare));
  const set = new Primitive({ idBlock: { tagClass: 3, tagNumber: 0 }, valueHex });
  set.idBlock.isConstructed = true;
  return set;
}

function tstInfo({ imprint, nonce }: TimestampQuery, { time: at, serialNumber }: Moment): TSTInfo {
  return new TSTInfo({
    version: 1,
    policy: POLICY,
    messageImprint: imprint,
    serialNumber: new Integer({ valueHex: serialNumber }),
    genTime: wholeSeconds(at),
    ...(nonce === undefined ? {} : { nonce }),
  });
}

/** SigningCertificateV2 with one ESSCertIDv2 (RFC 5035): SHA-256 is the default for its digest, and so left out. */
function signingCertificateV2({ issuer, serialNumber }: Certificate, digest: Uint8Array): Sequence {
  const names = new GeneralNames({ names: [new GeneralName({ type: 4, value: issuer })] });
  const issuerSerial = new IssuerSerial({ issuer: names, serialNumber });
  const certificate = new Sequence({ value: [new OctetString({ valueHex: digest }), issuerSerial.toSchema()] });
  return new Sequence({ value: [new Sequence({ value: [certificate] })] });
}

function attribute(type: string, value: BaseBlock): Attribute {
  return new Attribute({ type, values: [value] });
}

function algorithm(algorithmId: string): AlgorithmIdentifier {
  return new AlgorithmIdentifier({ algorithmId, algorithmParams: new Null() });
}

function sha256(bytes: ArrayBuffer | Uint8Array): Buffer {
  return createHash('sha256').update(new Uint8Array(bytes)).digest();
}
