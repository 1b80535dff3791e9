/** Signatures as a repository makes them, which this program does not: primary ones and countersignatures. */

import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { RSA_ENCRYPTION } from '../../../../src/asn1/algorithm-identifiers.ts';
import {
  COMMITMENT_TYPE,
  COUNTER_SIGNATURE,
  DATA,
  MESSAGE_DIGEST,
  NUGET_OWNERS,
  NUGET_SERVICE_INDEX,
  PROOF_OF_RECEIPT,
} from '../../../../src/asn1/object-identifiers.ts';
import {
  contextConstructed,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOfAll,
  smallInteger,
} from '../../../../src/asn1/write.ts';
import { readCertificateFields } from '../../../../src/certificates/certificate.ts';
import {
  type Attribute,
  buildSignedAttributes,
  buildSignedData,
  digestAlgorithm,
  encodeAttribute,
} from '../../../../src/cms/build-signed-data.ts';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { cmsEnvelope } from '../../../../src/format/signature.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { NUGET_PROFILE } from '../../../../src/formats/nuget/signed-content.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { applyPatch } from '../support/apply-patch.ts';
import { placeIn } from '../support/change.ts';
import { openBytes, signBytes } from '../support/sign-bytes.ts';
import { makePackage } from './samples.ts';

export const SERVICE_INDEX = 'https://packages.example/v3/index.json';
export const OWNERS = ['first', 'second'];

export type AttributeChange = (own: readonly Attribute[]) => readonly Attribute[];

/** With the commitment of a repository. */
const asRepository: AttributeChange = (own) => [
  ...own.filter(({ type }) => type !== COMMITMENT_TYPE),
  { type: COMMITMENT_TYPE, value: sequence(objectIdentifier(PROOF_OF_RECEIPT)) },
  { type: NUGET_SERVICE_INDEX, value: encode(0x16, Buffer.from(SERVICE_INDEX)) },
  { type: NUGET_OWNERS, value: sequence(...OWNERS.map((name) => encode(0x0c, Buffer.from(name)))) },
];

const attributesOf = ({ chain }: ThrowawaySigner) => NUGET_PROFILE.signedAttributes(signingContext({ chain }));

/** A SignerInfo over the value of a signature. */
function countersignature(signer: ThrowawaySigner, value: Uint8Array): Uint8Array {
  const { issuer, serialNumber } = readCertificateFields(signer.chain.leaf.der);
  const digest = createHash('sha256').update(value).digest();
  const attributes = [...asRepository(attributesOf(signer)), { type: MESSAGE_DIGEST, value: octetString(digest) }].map(
    encodeAttribute,
  );
  const signed = setOfAll(attributes);
  return sequence(
    smallInteger(1),
    sequence(issuer, serialNumber),
    digestAlgorithm('SHA256'),
    contextConstructed(0, ...attributes.toSorted(Buffer.compare)),
    sequence(objectIdentifier(RSA_ENCRYPTION), nullValue()),
    octetString(signer.sign(signed, 'SHA256')),
  );
}

/** A package that "Test Publisher" signed and "Test Repository" countersigned. */
export async function countersignedPackage(): Promise<Buffer> {
  const [author, repository] = await Promise.all([
    makeThrowawaySigner(),
    makeThrowawaySigner({ publisher: 'Test Repository' }),
  ]);
  const plain = makePackage();
  const { sealed } = await signBytes(nuget, plain, author);
  const { patch } = await placeIn(
    await openBytes(nuget, plain),
    cmsEnvelope(signedAgain(sealed, author, 'author', [repository])),
  );
  return applyPatch(plain, patch);
}

/**
 * The signature `cms` made again, with the same content, by `signer`: as an author's or a repository's; and countersigned
 * by those. `changed`: with a countersignature of another value.
 */
export function signedAgain(
  cms: Uint8Array,
  signer: ThrowawaySigner,
  role: 'author' | 'repository',
  counters: readonly ThrowawaySigner[] = [],
  changed = false,
): Uint8Array {
  const { content } = parseSignedData(cms);
  const countered = (signature: Uint8Array) =>
    counters.map((each) => ({
      type: COUNTER_SIGNATURE,
      value: countersignature(each, changed ? Buffer.from(signature).reverse() : signature),
    }));
  const change: AttributeChange = role === 'repository' ? asRepository : (own) => own;
  return signContent(content?.contents ?? expect.unreachable(), [signer, ...counters], change, countered);
}

/** By the first of the signers, with the certificates of all. */
export function signContent(
  content: Uint8Array,
  signers: readonly [ThrowawaySigner, ...ThrowawaySigner[]],
  change: AttributeChange,
  unsignedAttributes: (signature: Uint8Array) => readonly Attribute[],
): Uint8Array {
  const [signer] = signers;
  const messageDigest = createHash('sha256').update(content).digest();
  const signedAttributes = buildSignedAttributes(DATA, messageDigest, [...change(attributesOf(signer))]);
  const signature = signer.sign(signedAttributes, 'SHA256');
  return buildSignedData({
    algorithm: 'SHA256',
    content: { type: DATA, value: octetString(content) },
    certificates: signers.flatMap(({ chain }) => chain.certificates.map(({ der }) => der)),
    signer: signer.chain.leaf.fields,
    signedAttributes,
    signature,
    unsignedAttributes: [...unsignedAttributes(signature)],
  });
}
