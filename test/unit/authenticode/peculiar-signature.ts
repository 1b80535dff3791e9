/** Authenticode signatures as no program of today makes them, put together apart from the code under test. */

import { createHash } from 'node:crypto';
import { SPC_INDIRECT_DATA, SPC_PE_IMAGE_DATA } from '../../../src/asn1/object-identifiers.ts';
import { objectIdentifier, octetString, sequence } from '../../../src/asn1/write.ts';
import type { AuthenticodeParts } from '../../../src/authenticode/read-authenticode.ts';
import { examineSigner } from '../../../src/cms/verify-signer.ts';
import {
  algorithm,
  type Digest,
  type HostileCms,
  type HostileSigner,
  hostileCms,
  SHA256,
} from '../../support/signed-files/hostile-cms.ts';

export const SHA1: Digest = { oid: '1.3.14.3.2.26', name: 'sha1' };
export const MD5: Digest = { oid: '1.2.840.113549.2.5', name: 'md5' };

/** `digest`: algorithm for the digest of the content and for the signature. */
export interface Peculiar extends Omit<HostileCms, 'signer'> {
  /** Of the content alone. */
  readonly contentDigest?: Digest;
  /** What the content is the digest of: the text `content` when left out. */
  readonly file?: Uint8Array;
  /** Dotted; that of a PE when left out. */
  readonly dataType?: string;
  readonly dataValue?: Uint8Array;
  /** Whether the content is in an OCTET STRING. */
  readonly wrap?: boolean;
}

/** An RSA or EC signature by `signer`, sound except for what is requested. */
export function peculiarSignature(signer: HostileSigner, options: Peculiar = {}): Uint8Array {
  const { digest = SHA256, contentDigest = digest, file = 'content', wrap = false } = options;
  const { dataType = SPC_PE_IMAGE_DATA, dataValue = sequence() } = options;
  const hashed = octetString(createHash(contentDigest.name).update(file).digest());
  const data = sequence(objectIdentifier(dataType), dataValue);
  const indirectData = sequence(data, sequence(algorithm(contentDigest.oid), hashed));
  const content = wrap ? octetString(indirectData) : indirectData;
  return hostileCms({ signer, contentType: SPC_INDIRECT_DATA, content, ...options });
}

/** Of the signature's own structures and value; neither the file's content nor trust is checked. */
export function isValid({ signedData, digestedContent }: AuthenticodeParts): boolean {
  return examineSigner(signedData, signedData.signers[0], digestedContent).length === 0;
}
