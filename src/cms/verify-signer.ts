/** Whether a signer's attributes and signature value agree with the content (RFC 5652, 5.4 and 5.6). Says nothing of trust. */

import {
  constants,
  createHash,
  type HashOptions,
  type KeyObject,
  publicDecrypt,
  verify,
  X509Certificate,
} from 'node:crypto';
import {
  algorithmName,
  DIGEST_NAME_BY_OID,
  DIGEST_OID,
  isAlgorithmOf,
  isVerifiable,
  RSA_ENCRYPTION,
  RSA_PSS,
  SHA1_WITH_RSA,
  SHAKE256_512,
} from '../asn1/algorithm-identifiers.ts';
import { CONTENT_TYPE, MESSAGE_DIGEST } from '../asn1/object-identifiers.ts';
import { objectIdentifierOf, octetsOf } from '../asn1/read.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import { publicKeyOf } from '../certificates/parsed-certificate.ts';
import { readSignatureAlgorithm, type SignatureAlgorithm } from '../certificates/signature-algorithm.ts';
import { BUDGET_SPENT, WORK, type WorkBudget } from '../crypto/work-budget.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding, unsupported } from '../errors/finding.ts';
import { attributeValues, type SignedData, type SignerInfo } from './parse-signed-data.ts';

/** Bytes of output of id-shake256-len with 512 bits. */
const SHAKE256_LENGTH = 64;

export interface SignerRules {
  /** Content types that the contentType attribute may name; undefined stands for no such attribute. Default: the content's. */
  readonly contentTypes?: readonly (string | undefined)[];
  /** Whether an RSA signature may hold the bare SHA-1 value (`bare-sha1.ts`). */
  readonly bareSha1?: boolean;
  /** Charged for the check; a signature value that it does not pay for counts as not verified. */
  readonly budget?: WorkBudget | undefined;
}

/** What is signed; of large content its digest by the signer's algorithm. */
export type SignedContent = Uint8Array | { readonly digest: Uint8Array };

/** `name`: the digest's, as node:crypto calls it. */
export function digestOfContent(content: SignedContent, name: string, options: HashOptions = {}): Uint8Array {
  return 'digest' in content ? content.digest : createHash(name, options).update(content).digest();
}

/** Whether `examineSigner` finds nothing. */
export function signerVerifies(
  signedData: SignedData,
  signer: SignerInfo,
  contentBytes: Uint8Array,
  rules: SignerRules = {},
): boolean {
  return examineSigner(signedData, signer, contentBytes, rules).length === 0;
}

/**
 * Empty when contentType and messageDigest are there once and right, and the signature value verifies under the key of the
 * certificate carried. Without signed attributes, the content itself is what is signed (RFC 5652, 5.4). All findings speak
 * against integrity.
 * `content`: what messageDigest is over (of an attached content, its contents without tag and length).
 */
export function examineSigner(
  signedData: Pick<SignedData, 'contentType'>,
  signer: SignerInfo,
  content: SignedContent,
  rules: SignerRules = {},
): readonly Finding[] {
  const { contentTypes = [signedData.contentType], bareSha1 = false, budget } = rules;
  const { digestAlgorithm, certificate, signedBytes } = signer;
  const digestName = digestAlgorithm === SHAKE256_512 ? 'shake256' : DIGEST_NAME_BY_OID[digestAlgorithm];
  if (digestName === undefined) {
    return [unsupported('digest-algorithm-unknown', `The digest algorithm ${digestAlgorithm} is not known.`)];
  }
  if (certificate === undefined) {
    return [unsupported('signer-certificate-missing', 'The signature does not carry the certificate of its signer.')];
  }
  if (budget?.take(WORK.signatureValue) === false) {
    return [unsupported(BUDGET_SPENT, 'The signature value was not checked: the file needs too many checks.')];
  }
  if (signedBytes === undefined) {
    if ('digest' in content) {
      const message = 'The signature has no signed attributes, and such a signature is not verified here.';
      return [unsupported('signed-attributes-missing', message)];
    }
    return examineValue(signer, content, certificate, digestName);
  }
  const length = digestAlgorithm === SHAKE256_512 ? { outputLength: SHAKE256_LENGTH } : {};
  const digest = digestOfContent(content, digestName, length);
  return [
    ...examineAttributes(contentTypes, signer, digest),
    ...examineValue(signer, signedBytes, certificate, digestName, bareSha1),
  ];
}

function examineAttributes(
  contentTypes: readonly (string | undefined)[],
  signer: SignerInfo,
  digest: Uint8Array,
): readonly Finding[] {
  const [type, ...moreTypes] = attributeValues(signer.signedAttributes, CONTENT_TYPE);
  const [messageDigest, ...moreDigests] = attributeValues(signer.signedAttributes, MESSAGE_DIGEST);
  const isTypeMissing = type === undefined && !contentTypes.includes(undefined);
  if (isTypeMissing || messageDigest === undefined || moreTypes.length + moreDigests.length > 0) {
    const problem = 'The signed attributes do not have contentType and messageDigest once each.';
    return [broken('signed-attributes-damaged', problem)];
  }
  try {
    if (type !== undefined && !contentTypes.includes(objectIdentifierOf(type, 'contentType'))) {
      return [broken('content-type-differs', 'The signed contentType is not that of the content.')];
    }
    if (!isSameBytes(octetsOf(messageDigest, 'messageDigest'), digest)) {
      return [broken('message-digest-differs', 'The signed messageDigest is not that of the content.')];
    }
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    // Not the kinds of values that these attributes have.
    return [broken('signed-attributes-damaged', `The signed attributes are damaged: ${thrown.message}.`)];
  }
  return [];
}

function examineValue(
  signer: SignerInfo,
  signedBytes: Uint8Array,
  certificate: Uint8Array,
  digestName: string,
  bareSha1 = false,
): readonly Finding[] {
  const { signatureAlgorithm } = signer;
  const key = keyOf(certificate);
  if (key === undefined || !isVerifiable(signatureAlgorithm)) {
    const what = key === undefined ? "The signer's certificate has a key" : 'The signature value is by an algorithm';
    const name = key === undefined ? '' : ` (${algorithmName(signatureAlgorithm) ?? signatureAlgorithm})`;
    return [unsupported('signature-algorithm-unknown', `${what} that is not known here${name}.`)];
  }
  const pss = signatureAlgorithm === RSA_PSS ? pssParameters(signer, digestName) : undefined;
  if (pss !== undefined && 'code' in pss) return [pss];
  if (signatureMatches(signer, signedBytes, key, digestName, pss?.saltLength)) return [];
  if (bareSha1 && isBareSha1(signer, signedBytes, certificate)) return [];
  return [broken('signature-value-wrong', "The signature value does not verify under the signer's key.")];
}

/** Undefined if OpenSSL cannot read the certificate, or does not know its kind of key. */
function keyOf(certificate: Uint8Array): KeyObject | undefined {
  try {
    return publicKeyOf({ x509: new X509Certificate(certificate) });
  } catch {
    return undefined;
  }
}

/** RFC 4056, 3: the digest is that of digestAlgorithm. */
function pssParameters(
  { signatureAlgorithmIdentifier }: SignerInfo,
  digestName: string,
): Pick<SignatureAlgorithm, 'saltLength'> | Finding {
  const code = 'signature-parameters-wrong';
  const parameters = readSignatureAlgorithm(signatureAlgorithmIdentifier);
  if (parameters === undefined)
    return unsupported(code, 'The RSASSA-PSS parameters of the signature are damaged or not known here.');
  if (parameters.digest === digestName) return parameters;
  const message = `The RSASSA-PSS parameters of the signature name the digest ${parameters.digest}, its digestAlgorithm ${digestName}.`;
  return broken(code, message);
}

/** `pssSaltLength`: in bytes; undefined for every other algorithm. */
function signatureMatches(
  signer: SignerInfo,
  signedBytes: Uint8Array,
  key: KeyObject,
  digestName: string,
  pssSaltLength: number | undefined,
): boolean {
  try {
    // Java and OpenSSL's CMS check by the algorithm that is named, Windows by the key alone.
    if (!isAlgorithmOf(key.asymmetricKeyType, signer.signatureAlgorithm)) return false;
    return verify(
      hasOwnDigest(key) ? null : digestName,
      signedBytes,
      pssSaltLength === undefined ? key : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pssSaltLength },
      signer.signature,
    );
  } catch {
    return false; // OpenSSL cannot use the key with this digest
  }
}

/** These sign the bytes themselves (RFC 8419, 3): the digest algorithm is that of messageDigest alone. */
function hasOwnDigest({ asymmetricKeyType: type }: KeyObject): boolean {
  return type === 'ed25519' || type === 'ed448';
}

/** Block type and at least eight 0xff, in front of the zero that ends the padding (RFC 8017, 9.2). */
const LEAST_PADDING = 10;
const DIGEST_LENGTH = 20;

/**
 * Whether the signature value is the whole block `00 01 ff … ff 00 SHA-1(signedBytes)` under the certificate's RSA key.
 * False for any other digest algorithm, any other padding and any byte more or less. Never throws.
 */
export function isBareSha1(
  { digestAlgorithm, signatureAlgorithm, signature }: SignerInfo,
  signedBytes: Uint8Array,
  certificate: Uint8Array,
): boolean {
  const isPkcs1 = signatureAlgorithm === RSA_ENCRYPTION || signatureAlgorithm === SHA1_WITH_RSA;
  if (digestAlgorithm !== DIGEST_OID.SHA1 || !isPkcs1) return false;
  const key = keyOf(certificate);
  if (key?.asymmetricKeyType !== 'rsa') return false;
  try {
    // Compared as a whole, so that no reading of the padding can be lenient.
    const block = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
    if (signature.length !== block.length || block.length < LEAST_PADDING + 1 + DIGEST_LENGTH) return false;
    const padding = Buffer.alloc(block.length - 1 - DIGEST_LENGTH, 0xff);
    padding.writeUInt16BE(0x0001);
    const digest = createHash('sha1').update(signedBytes).digest();
    return block.equals(Buffer.concat([padding, Buffer.of(0), digest]));
  } catch {
    return false; // the value is not below the modulus
  }
}
