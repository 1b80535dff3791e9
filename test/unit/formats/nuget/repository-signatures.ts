/** Signatures as a repository makes them, which this program does not: primary ones and countersignatures. */

import { expect } from 'vitest';
import {
  COMMITMENT_TYPE,
  COUNTER_SIGNATURE,
  NUGET_OWNERS,
  NUGET_SERVICE_INDEX,
  PROOF_OF_RECEIPT,
} from '../../../../src/asn1/object-identifiers.ts';
import { encode, objectIdentifier, octetString, sequence } from '../../../../src/asn1/write.ts';
import { type Attribute, encodeAttribute } from '../../../../src/cms/build-signed-data.ts';
import { parseSignedData } from '../../../../src/cms/parse-signed-data.ts';
import { nuget } from '../../../../src/formats/nuget/index.ts';
import { NUGET_PROFILE } from '../../../../src/formats/nuget/signed-content.ts';
import { hostileCms } from '../../../support/signed-files/hostile-cms.ts';
import { signingContext } from '../../../support/signed-files/signing-context.ts';
import { makeThrowawaySigner, type ThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { buildCounterSignature } from '../../timestamp/support/build-counter-signature.ts';
import { attachBytes, signBytes } from '../support/sign-bytes.ts';
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
  const attributes = asRepository(attributesOf(signer));
  return buildCounterSignature(value, signer, { digest: 'sha256', contentTypes: [], attributes });
}

/** A package that "Test Publisher" signed and "Test Repository" countersigned. */
export async function countersignedPackage(): Promise<Buffer> {
  const [author, repository] = await Promise.all([
    makeThrowawaySigner(),
    makeThrowawaySigner({ publisher: 'Test Repository' }),
  ]);
  const plain = makePackage();
  const { sealed } = await signBytes(nuget, plain, author);
  return attachBytes(nuget, plain, signedAgain(sealed, author, 'author', [repository]));
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
  return hostileCms({
    signer,
    content: octetString(content),
    certificates: signers.flatMap(({ chain }) => chain.certificates.map(({ der }) => der)),
    signedAttributes: change(attributesOf(signer)).map(encodeAttribute),
    unsignedAttributes: (signature) => unsignedAttributes(signature).map(encodeAttribute),
  });
}
