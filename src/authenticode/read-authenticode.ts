/** Reading Authenticode signatures, those that other programs made too, with the signatures nested in them. */

import { type Element, fieldsOf, objectIdentifierOf, octetsOf, readElement } from '../asn1/read.ts';
import { digestAlgorithmOf } from '../cms/object-identifiers.ts';
import { attributeValues, parseSignedData, refusingMalformed, type SignedData } from '../cms/parse-signed-data.ts';
import { signerNameOf } from '../cms/signer-name.ts';
import { signerVerifies } from '../cms/verify-signer.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { authenticodeErrors } from './errors.ts';
import { SPC_INDIRECT_DATA, SPC_NESTED_SIGNATURE } from './object-identifiers.ts';

export interface AuthenticodeSignature {
  /** The CMS alone, without what follows it. */
  readonly cms: Uint8Array;
  /** How many bytes followed it. */
  readonly trailingLength: number;
  /** The algorithm the content is digested with; undefined when it is none of the API's (MD5, say). */
  readonly algorithm: DigestAlgorithm | undefined;
  /** The content's digest as the signature has it. */
  readonly contentDigest: Uint8Array;
  /** DER; undefined when the signature does not carry it. */
  readonly signerCertificate: Uint8Array | undefined;
  /** The signer's common name, or issuer and serial number without a certificate. Raw: may hold control characters. */
  readonly signerName: string;
  readonly nested: readonly AuthenticodeSignature[];
  /** Whether signed attributes, indirect data and signature value agree. Not the file's content; not trust. */
  verifies(): boolean;
}

/** Windows looks no deeper than 1; twice that and more is room for what it ignores. */
const MAX_DEPTH = 4;
/** In all, however deep. */
const MAX_NESTED = 64;

/** Throws `cms-…`, `authenticode-malformed`, `authenticode-nested-too-deeply`. */
export function readAuthenticode(bytes: Uint8Array): AuthenticodeSignature {
  let count = 0;
  const read = (cms: Uint8Array, depth: number): AuthenticodeSignature => {
    if (depth > MAX_DEPTH)
      throw authenticodeErrors('authenticode-nested-too-deeply', { problem: 'inside one another' });
    const signedData = parseSignedData(cms);
    const [signer] = signedData.signers;
    const nested = attributeValues(signer.unsignedAttributes, SPC_NESTED_SIGNATURE);
    count += nested.length;
    if (count > MAX_NESTED)
      throw authenticodeErrors('authenticode-nested-too-deeply', { problem: `more than ${MAX_NESTED}` });
    return refusingMalformed(() => {
      const content = contentOf(signedData);
      return {
        ...readIndirectData(content),
        cms: signedData.bytes,
        trailingLength: signedData.trailingLength,
        signerCertificate: signer.certificate,
        signerName: signerNameOf(signer),
        nested: nested.map((value) => read(value.bytes, depth + 1)),
        verifies: () => signerVerifies(signedData, signer, content.contents),
      };
    });
  };
  return read(bytes, 0);
}

/** The content, whose contents are what messageDigest is over. */
function contentOf({ contentType, content }: SignedData): Element {
  if (contentType !== SPC_INDIRECT_DATA) {
    throw authenticodeErrors('authenticode-malformed', { problem: `its content is of type ${contentType}` });
  }
  if (content === undefined) throw authenticodeErrors('authenticode-malformed', { problem: 'it has no content' });
  return content;
}

/** The content is the SEQUENCE itself; some programs put it in an OCTET STRING, as CMS has it. */
function readIndirectData(content: Element): Pick<AuthenticodeSignature, 'algorithm' | 'contentDigest'> {
  const what = 'SpcIndirectDataContent';
  const indirectData = content.tag === 0x04 ? readElement(content.contents, what) : content;
  const fields = fieldsOf(indirectData, 0x30, what);
  fields.next(0x30, 'data');
  const digestInfo = fieldsOf(fields.next(0x30, 'messageDigest'), 0x30, what);
  const algorithm = fieldsOf(digestInfo.next(0x30, 'algorithm'), 0x30, what);
  return {
    algorithm: digestAlgorithmOf(objectIdentifierOf(algorithm.next(0x06, 'identifier'), what)),
    contentDigest: octetsOf(digestInfo.any('digest'), what),
  };
}
