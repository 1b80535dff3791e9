import { createHash, getHashes } from 'node:crypto';
import { digestAlgorithmOf, MD5 } from '../asn1/algorithm-identifiers.ts';
import { SPC_INDIRECT_DATA, SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, objectIdentifierOf, octetsOf, parts as partsOf, readElement } from '../asn1/read.ts';
import {
  attributeValues,
  type CmsBudget,
  cmsBudget,
  parseSignedData,
  type SignedData,
  withCmsErrors,
} from '../cms/parse-signed-data.ts';
import { readContentFields, readSignedDataFields } from '../cms/signed-data-fields.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/measure-content.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { authenticodeErrors } from './errors.ts';

export interface AuthenticodeParts {
  readonly dataType: string;
  readonly dataValue: Element | undefined;
  readonly contentDigestOid: string;
  readonly contentDigestAlgorithm: ContentDigest | undefined;
  readonly contentDigest: Uint8Array;
  readonly signedData: SignedData;
  readonly digestedContent: Uint8Array;
  /** undefined if the API does not support the digest algorithm of the content, for example MD5. */
  readonly algorithm: DigestAlgorithm | undefined;
}

export interface AuthenticodeSignature extends AuthenticodeParts {
  readonly nested: readonly AuthenticodeSignature[];
}

export interface FoundCms {
  readonly cms: Uint8Array;
  /** `error` states why an entry is not an Authenticode signature. */
  readonly parts: AuthenticodeParts | undefined;
  readonly error: CodesignError | undefined;
  readonly signedData: SignedData | undefined;
  readonly nested: readonly FoundCms[];
}

/** Windows reads only one level of nested signatures. */
const MAX_DEPTH = 4;
const MAX_NESTED = 64;
/**
 * Length of the longest content digest of an app package: four letters, and five SHA-512 digests with four letters
 * each.
 */
const LONGEST_DIGEST = 4 + 5 * (4 + 64);
const SPC_CONTENT = 'SpcIndirectDataContent';

/** Creates limits for all signatures of a file together. */
export function signatureBudget(): CmsBudget & { nested: number } {
  return { nested: MAX_NESTED, ...cmsBudget() };
}

export function readAuthenticode(bytes: Uint8Array, contentType?: string): AuthenticodeSignature {
  return withoutErrors(findAuthenticode(bytes, signatureBudget(), contentType));
}

export function findAuthenticode(
  bytes: Uint8Array,
  room = signatureBudget(),
  contentType = SPC_INDIRECT_DATA,
): FoundCms {
  const find = (cms: Uint8Array, depth: number): FoundCms => {
    let signedData: SignedData | undefined;
    try {
      signedData = parseSignedData(cms, room);
      if (depth > MAX_DEPTH) throw nestedTooDeeply(`more than ${MAX_DEPTH} levels`);
      const parts = readParts(signedData, contentType);
      const values = attributeValues(signedData.signers[0].unsignedAttributes, SPC_NESTED_SIGNATURE);
      room.nested -= values.length;
      // A hostile signature can contain thousands of nested signatures. If there are too many, none is read.
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

function withoutErrors({ parts, error, nested }: FoundCms): AuthenticodeSignature {
  if (parts === undefined) throw error;
  return { ...parts, nested: nested.map(withoutErrors) };
}

/** `signedData` is set if the bytes are a CMS structure without Authenticode content. */
export function unreadableSignature(cms: Uint8Array, error: CodesignError, signedData?: SignedData): FoundCms {
  return { cms, parts: undefined, error, signedData, nested: [] };
}

export function algorithmsOf({ parts, nested }: FoundCms): readonly ContentDigest[] {
  const algorithm = parts?.contentDigestAlgorithm;
  return [...(algorithm === undefined ? [] : [algorithm]), ...nested.flatMap(algorithmsOf)];
}

/** Reads only the content and its digest, from a signature that this program created. */
export function readContentDigest(cms: Uint8Array, contentType = SPC_INDIRECT_DATA) {
  if (contentType !== SPC_INDIRECT_DATA) return readAuthenticode(cms, contentType);
  return withCmsErrors(() => {
    const { encapsulatedContent } = readSignedDataFields(cms);
    return readSpcContent(contentOf(readContentFields(encapsulatedContent), contentType));
  });
}

function readParts(signedData: SignedData, contentType: string): AuthenticodeParts {
  return withCmsErrors(() => {
    const content = contentOf(signedData, contentType);
    const digestedContent = digestedBytesOf(content);
    const indirectData =
      contentType === SPC_INDIRECT_DATA
        ? readSpcContent(content)
        : partsOfSignedList(signedData, content, digestedContent);
    const { contentDigestAlgorithm } = indirectData;
    const algorithm = contentDigestAlgorithm === 'MD5' ? undefined : contentDigestAlgorithm;
    return { ...indirectData, signedData, digestedContent, algorithm };
  });
}

function readSpcContent(content: Element) {
  return readIndirectData(isWrapped(content) ? readElement(digestedBytesOf(content), SPC_CONTENT) : content);
}

function contentOf({ contentType, content }: Pick<SignedData, 'contentType' | 'content'>, expected: string): Element {
  if (contentType !== expected) {
    throw authenticodeErrors('authenticode-content-other', { type: contentType });
  }
  if (content === undefined) throw malformed('it has no content');
  return content;
}

/**
 * In PKCS#7, messageDigest excludes the tag and length of the content. Some programs write an OCTET STRING around the
 * content, as in CMS, and digest everything in this OCTET STRING. Windows accepts both forms.
 */
function digestedBytesOf(content: Element): Uint8Array {
  return isWrapped(content) ? octetsOf(content, 'content') : content.contents;
}

function isWrapped({ tag }: Element): boolean {
  return tag === 0x04 || tag === 0x24;
}

/** The signature of a catalog covers its content directly, without a digest of the file. */
function partsOfSignedList({ contentType, signers: [signer] }: SignedData, content: Element, digested: Uint8Array) {
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
  const contentDigest = octetsOf(digestInfo.any('digest'), what);
  if (contentDigest.length > LONGEST_DIGEST) throw malformed(`its content digest has ${contentDigest.length} bytes`);
  const contentDigestAlgorithm = contentDigestOf(contentDigestOid);
  return { dataType, dataValue: partsOf(data, what)[1], contentDigestOid, contentDigestAlgorithm, contentDigest };
}

/** Returns undefined for unknown algorithms, and for MD5 if OpenSSL does not provide it (FIPS mode). */
function contentDigestOf(oid: string): ContentDigest | undefined {
  if (oid === MD5) return getHashes().includes('md5') ? 'MD5' : undefined;
  return digestAlgorithmOf(oid);
}

function malformed(problem: string): CodesignError {
  return authenticodeErrors('authenticode-malformed', { problem });
}

function nestedTooDeeply(problem: string): CodesignError {
  return authenticodeErrors('authenticode-nested-too-deeply', { problem });
}
