/** Checks the signature of a signer (RFC 5652, sections 5.4 and 5.6), but not whether the signer is trusted. */

import { constants, createHash, type HashOptions, type KeyObject, publicDecrypt, X509Certificate } from 'node:crypto';
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
import { publicKeyOf } from '../certificates/certificate.ts';
import {
  readSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureVerifies,
} from '../certificates/signature-algorithm.ts';
import { BUDGET_SPENT, WORK, type WorkBudget } from '../crypto/work-budget.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding, unsupported } from '../errors/finding.ts';
import { attributeValues, type SignedData, type SignerInfo } from './parse-signed-data.ts';

const SHAKE256_LENGTH = 64;

export interface SignerRules {
  /**
   * Permitted values of the contentType attribute, which may be missing if undefined is one of them. Default: the
   * content's type.
   */
  readonly contentTypes?: readonly (string | undefined)[];
  /** Accepts a bare SHA-1 value in an RSA signature (see `isBareSha1`). */
  readonly bareSha1?: boolean;
  /** When the budget is spent, signature values are not verified. */
  readonly budget?: WorkBudget | undefined;
}

/** For large content, the caller passes only the digest, computed with the signer's algorithm. */
export type SignedContent = Uint8Array | { readonly digest: Uint8Array };

export function digestOfContent(content: SignedContent, name: string, options: HashOptions = {}): Uint8Array {
  return 'digest' in content ? content.digest : createHash(name, options).update(content).digest();
}

/**
 * Every finding means that the signature is broken or cannot be verified. Without signed attributes, the signature
 * covers the content itself (RFC 5652, section 5.4). `content` is the input of messageDigest: attached content without
 * its tag and length.
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
    return [unsupported('digest-algorithm-unknown', `The digest algorithm ${digestAlgorithm} is not supported.`)];
  }
  if (certificate === undefined) {
    return [unsupported('signer-certificate-missing', 'The signature does not contain the certificate of its signer.')];
  }
  if (budget?.take(WORK.signatureValue) === false) {
    return [unsupported(BUDGET_SPENT, 'The signature value was not checked: the file needs too many checks.')];
  }
  if (signedBytes === undefined) {
    if ('digest' in content) {
      const message = 'The signature has no signed attributes. This program does not verify such signatures.';
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
    const problem = 'The signed attributes do not contain contentType and messageDigest exactly once each.';
    return [broken('signed-attributes-damaged', problem)];
  }
  try {
    if (type !== undefined && !contentTypes.includes(objectIdentifierOf(type, 'contentType'))) {
      return [broken('content-type-differs', 'The signed contentType differs from the type of the content.')];
    }
    if (!isSameBytes(octetsOf(messageDigest, 'messageDigest'), digest)) {
      return [broken('message-digest-differs', 'The signed messageDigest differs from the digest of the content.')];
    }
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
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
    const what =
      key === undefined ? "The signer's certificate has a key" : 'The signature value was made with an algorithm';
    const name = key === undefined ? '' : ` (${algorithmName(signatureAlgorithm) ?? signatureAlgorithm})`;
    return [unsupported('signature-algorithm-unknown', `${what} that is not supported${name}.`)];
  }
  const pss = signatureAlgorithm === RSA_PSS ? pssParameters(signer, digestName) : undefined;
  if (pss !== undefined && 'code' in pss) return [pss];
  // Ed25519 and Ed448 sign the bytes themselves (RFC 8419, section 3). Their digestAlgorithm is only for messageDigest.
  const hasOwnDigest = key.asymmetricKeyType === 'ed25519' || key.asymmetricKeyType === 'ed448';
  const algorithm = { digest: hasOwnDigest ? null : digestName, saltLength: pss?.saltLength };
  // Java and OpenSSL use the algorithm that the signature names. Windows uses only the type of the key.
  const isOfKey = isAlgorithmOf(key.asymmetricKeyType, signatureAlgorithm);
  if (isOfKey && signatureVerifies(key, algorithm, signedBytes, signer.signature)) return [];
  if (bareSha1 && isBareSha1(signer, signedBytes, certificate)) return [];
  return [broken('signature-value-wrong', "The signature value does not match the signer's key.")];
}

export function keyOf(certificate: Uint8Array): KeyObject | undefined {
  try {
    return publicKeyOf({ x509: new X509Certificate(certificate) });
  } catch {
    return undefined;
  }
}

/** The digest in the parameters must equal digestAlgorithm (RFC 4056, section 3). */
function pssParameters(
  { signatureAlgorithmIdentifier }: SignerInfo,
  digestName: string,
): Pick<SignatureAlgorithm, 'saltLength'> | Finding {
  const code = 'signature-parameters-wrong';
  const parameters = readSignatureAlgorithm(signatureAlgorithmIdentifier);
  if (parameters === undefined)
    return unsupported(code, 'The RSASSA-PSS parameters of the signature are damaged or not supported.');
  if (parameters.digest === digestName) return parameters;
  const message = `The RSASSA-PSS parameters of the signature name the digest ${parameters.digest}, but its digestAlgorithm is ${digestName}.`;
  return broken(code, message);
}

/** Length of the block type and at least eight 0xff bytes (RFC 8017, section 9.2). */
const LEAST_PADDING = 10;
const DIGEST_LENGTH = 20;

/** Looks for the block `00 01 ff … ff 00 SHA-1(signedBytes)`. Never throws. */
function isBareSha1(
  { digestAlgorithm, signatureAlgorithm, signature }: SignerInfo,
  signedBytes: Uint8Array,
  certificate: Uint8Array,
): boolean {
  const isPkcs1 = signatureAlgorithm === RSA_ENCRYPTION || signatureAlgorithm === SHA1_WITH_RSA;
  if (digestAlgorithm !== DIGEST_OID.SHA1 || !isPkcs1) return false;
  const key = keyOf(certificate);
  if (key?.asymmetricKeyType !== 'rsa') return false;
  try {
    // The whole block is compared, so that wrong padding is rejected.
    const block = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
    if (signature.length !== block.length || block.length < LEAST_PADDING + 1 + DIGEST_LENGTH) return false;
    const padding = Buffer.alloc(block.length - 1 - DIGEST_LENGTH, 0xff);
    padding.writeUInt16BE(0x0001);
    const digest = createHash('sha1').update(signedBytes).digest();
    return block.equals(Buffer.concat([padding, Buffer.of(0), digest]));
  } catch {
    return false; // The value is not less than the modulus.
  }
}
