import { createHash, getHashes } from 'node:crypto';
import { digestAlgorithmOf, MD5 } from '../asn1/algorithm-identifiers.ts';
import { SPC_INDIRECT_DATA, SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, octetsOf, parts as partsOf, readElement } from '../asn1/read.ts';
import { type CmsBudget, cmsBudget } from '../cms/limits.ts';
import { attributeValues, parseWithin, refusingMalformed, type SignedData } from '../cms/parse-signed-data.ts';
import { signerVerifies } from '../cms/verify-signer.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/content.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { authenticodeErrors } from './errors.ts';

/** One signature, without those nested in it. */
export interface AuthenticodeParts {
  /** Dotted: what kind of file it is for. */
  readonly dataType: string;
  /** What the kind of file has to say of itself; undefined when it says nothing. */
  readonly dataValue: Element | undefined;
  /** Dotted. */
  readonly contentDigestOid: string;
  /** Undefined when this program does not know it. */
  readonly contentDigestAlgorithm: ContentDigest | undefined;
  /** The content's digest as the signature has it. */
  readonly contentDigest: Uint8Array;
  readonly signedData: SignedData;
  /** What messageDigest is over. */
  readonly digestedContent: Uint8Array;
  /** The algorithm the content is digested with; undefined if the API does not have it (MD5, for example). */
  readonly algorithm: DigestAlgorithm | undefined;
  /** The signer's common name, or issuer and serial number without a certificate. Raw: may hold control characters. */
  readonly signerName: string;
  /** Whether signed attributes, indirect data and signature value agree. Not the file's content; not trust. */
  verifies(): boolean;
}

export interface AuthenticodeSignature extends AuthenticodeParts {
  readonly nested: readonly AuthenticodeSignature[];
}

/** What stands where a signature should. */
export interface FoundSignature {
  /** The bytes there, without what follows the CMS if its end is known. */
  readonly cms: Uint8Array;
  /** Undefined when it is no Authenticode signature: `error` says why. */
  readonly parts: AuthenticodeParts | undefined;
  readonly error: CodesignError | undefined;
  /** That of `parts`, or of a CMS that is something else; undefined when there is none. */
  readonly signedData: SignedData | undefined;
  readonly nested: readonly FoundSignature[];
}

/** Windows looks no deeper than 1; twice that and more is room for what it ignores. */
const MAX_DEPTH = 4;
/** Of a file, however deep. */
const MAX_NESTED = 64;
/** In bytes: five digests by SHA-512 with four letters each, and four letters before them, as packages have them. */
const LONGEST_DIGEST = 4 + 5 * (4 + 64);
const SPC_CONTENT = 'SpcIndirectDataContent';

/** What is left of the limits on a file: its signatures use it up together. */
export function signatureBudget(): CmsBudget & { nested: number } {
  return { nested: MAX_NESTED, ...cmsBudget() };
}

/** Throws `cms-…`, `authenticode-malformed`, `authenticode-content-other`, `authenticode-nested-too-deeply`, for those nested in it too. */
export function readAuthenticode(bytes: Uint8Array, contentType?: string): AuthenticodeSignature {
  return withoutErrors(findAuthenticode(bytes, signatureBudget(), contentType));
}

/** The same, with what cannot be read listed as such. `contentType`: of the content. */
export function findAuthenticode(
  bytes: Uint8Array,
  room = signatureBudget(),
  contentType = SPC_INDIRECT_DATA,
): FoundSignature {
  const find = (cms: Uint8Array, depth: number): FoundSignature => {
    let signedData: SignedData | undefined;
    try {
      signedData = parseWithin(room, cms);
      if (depth > MAX_DEPTH) throw nestedTooDeeply('inside one another');
      const parts = readParts(signedData, contentType);
      const values = attributeValues(signedData.signers[0].unsignedAttributes, SPC_NESTED_SIGNATURE);
      room.nested -= values.length;
      // A hostile signature may have many thousands: none of them is looked at.
      if (room.nested < 0) throw nestedTooDeeply(`more than ${MAX_NESTED}`);
      const nested = values.map(({ bytes }) => find(bytes, depth + 1));
      return { cms: signedData.bytes, parts, error: undefined, signedData, nested };
    } catch (thrown) {
      if (!(thrown instanceof CodesignError)) throw thrown;
      return unreadableSignature(cms, thrown, signedData);
    }
  };
  return find(bytes, 0);
}

function withoutErrors({ parts, error, nested }: FoundSignature): AuthenticodeSignature {
  if (parts === undefined) throw error;
  return { ...parts, nested: nested.map(withoutErrors) };
}

/** Bytes in the place of a signature that are not one; `signedData`: of a CMS that is something else. */
export function unreadableSignature(cms: Uint8Array, error: CodesignError, signedData?: SignedData): FoundSignature {
  return { cms, parts: undefined, error, signedData, nested: [] };
}

/** The algorithms of the content digests that it and those nested in it hold. */
export function algorithmsOf({ parts, nested }: FoundSignature): readonly ContentDigest[] {
  const algorithm = parts?.contentDigestAlgorithm;
  return [...(algorithm === undefined ? [] : [algorithm]), ...nested.flatMap(algorithmsOf)];
}

function readParts(signedData: SignedData, contentType: string): AuthenticodeParts {
  const [signer] = signedData.signers;
  return refusingMalformed(() => {
    const content = contentOf(signedData, contentType);
    const digestedContent = digestedBytesOf(content);
    const indirectData =
      contentType === SPC_INDIRECT_DATA
        ? readIndirectData(isWrapped(content) ? readElement(digestedContent, SPC_CONTENT) : content)
        : ofContentItself(signedData, content, digestedContent);
    const { contentDigestAlgorithm } = indirectData;
    return {
      ...indirectData,
      signedData,
      digestedContent,
      algorithm: isSigningAlgorithm(contentDigestAlgorithm) ? contentDigestAlgorithm : undefined,
      signerName: signer.name,
      verifies: () => signerVerifies(signedData, signer, digestedContent),
    };
  });
}

function contentOf({ contentType, content }: SignedData, expected: string): Element {
  if (contentType !== expected) {
    throw authenticodeErrors('authenticode-content-other', { type: contentType });
  }
  if (content === undefined) throw authenticodeErrors('authenticode-malformed', { problem: 'it has no content' });
  return content;
}

/**
 * PKCS#7 has the structure itself for content, and messageDigest leaves out its tag and length. Some programs write an OCTET
 * STRING with the structure in it, as CMS has it; then messageDigest is over all of the structure. Windows accepts both.
 */
function digestedBytesOf(content: Element): Uint8Array {
  return isWrapped(content) ? octetsOf(content, 'content') : content.contents;
}

/** In one piece or, in BER, in several. */
function isWrapped({ tag }: Element): boolean {
  return tag === 0x04 || tag === 0x24;
}

/** Of a content that holds no digest of the file, being the file's own: what is digested is the content. */
function ofContentItself({ contentType, signers: [signer] }: SignedData, content: Element, digested: Uint8Array) {
  const contentDigestAlgorithm = contentDigestOf(signer.digestAlgorithm);
  const name =
    contentDigestAlgorithm === 'MD5' ? 'md5' : contentDigestAlgorithm && NODE_DIGEST_NAME[contentDigestAlgorithm];
  return {
    dataType: contentType,
    dataValue: content,
    contentDigestOid: signer.digestAlgorithm,
    contentDigestAlgorithm,
    contentDigest: name === undefined ? new Uint8Array() : createHash(name).update(digested).digest(),
  };
}

export function readIndirectData(indirectData: Element) {
  const what = SPC_CONTENT;
  const fields = fieldsOf(indirectData, 0x30, what);
  const data = fields.next(0x30, 'data');
  const dataType = objectIdentifierOf(fieldsOf(data, 0x30, what).next(0x06, 'type'), what);
  const digestInfo = fieldsOf(fields.next(0x30, 'messageDigest'), 0x30, what);
  const algorithm = fieldsOf(digestInfo.next(0x30, 'algorithm'), 0x30, what);
  const contentDigestOid = objectIdentifierOf(algorithm.next(0x06, 'identifier'), what);
  return {
    dataType,
    dataValue: partsOf(data, what)[1],
    contentDigestOid,
    contentDigestAlgorithm: contentDigestOf(contentDigestOid),
    contentDigest: digestOf(octetsOf(digestInfo.any('digest'), what)),
  };
}

/** Undefined for algorithms by which nothing is digested: unknown ones, and MD5 if OpenSSL has none (FIPS). */
function contentDigestOf(oid: string): ContentDigest | undefined {
  if (oid === MD5) return getHashes().includes('md5') ? 'MD5' : undefined;
  return digestAlgorithmOf(oid);
}

/** Whether signatures are still made with it. */
function isSigningAlgorithm(algorithm: ContentDigest | undefined): algorithm is DigestAlgorithm {
  return algorithm !== undefined && algorithm !== 'MD5';
}

function digestOf(octets: Uint8Array): Uint8Array {
  if (octets.length <= LONGEST_DIGEST) return octets;
  throw authenticodeErrors('authenticode-malformed', { problem: `its content digest has ${octets.length} bytes` });
}

function nestedTooDeeply(problem: string): CodesignError {
  return authenticodeErrors('authenticode-nested-too-deeply', { problem });
}
