/** Reads a request for a timestamp (RFC 3161, section 2.4.1), strictly: DER, and nothing this authority does not know. */

import { type BaseBlock, Constructed, fromBER, ObjectIdentifier, Sequence } from 'asn1js';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';

/** The bit of PKIFailureInfo (2.4.2) for each reason this authority has to refuse. */
export const FAILURE_BIT = {
  badAlg: 0,
  badRequest: 2,
  badDataFormat: 5,
  timeNotAvailable: 14,
  unacceptedPolicy: 15,
  unacceptedExtension: 16,
} as const;
export type Failure = keyof typeof FAILURE_BIT;

/** Below the arc for examples (RFC 5612): a policy that promises nothing beyond what the server's README says. */
export const POLICY = '1.3.6.1.4.1.32473.3161.1';

/** SHA-1 is not among them: who can choose what is stamped could have two contents stamped by one token. */
const ALGORITHMS: ReadonlyMap<string, DigestAlgorithm> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'SHA256'],
  ['2.16.840.1.101.3.4.2.2', 'SHA384'],
  ['2.16.840.1.101.3.4.2.3', 'SHA512'],
]);

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  sequence: 0x30,
  extensions: 0xa0,
} as const;

export interface TimestampQuery {
  readonly algorithm: DigestAlgorithm;
  /** The MessageImprint as it came, DER: the token holds the same. */
  readonly imprint: Uint8Array;
  /** The INTEGER as it came, DER. */
  readonly nonce: Uint8Array | undefined;
  /** Whether the token is to hold the authority's certificates. */
  readonly certReq: boolean;
}

export type QueryCheck =
  | { readonly accepted: true; readonly query: TimestampQuery }
  | { readonly accepted: false; readonly failure: Failure; readonly message: string };

/** Judges the body of a request; whoever calls has bounded its length. */
export function checkQuery(body: Uint8Array): QueryCheck {
  const refuse = (failure: Failure, message: string): QueryCheck => ({ accepted: false, failure, message });
  const fields = fieldsOf(body);
  if (fields === undefined) return refuse('badDataFormat', 'the request is not a TimeStampReq in DER');
  const { version, imprint, policy, nonce, certReq, extensions } = fields;
  if (!Buffer.from([1]).equals(contents(version))) return refuse('badRequest', 'the version is not 1');

  const { algorithm, digest } = imprint;
  if (algorithm === undefined) return refuse('badAlg', 'the imprint is not of SHA-256, SHA-384 or SHA-512');
  if (digest.length !== DIGEST_LENGTH[algorithm]) {
    return refuse('badDataFormat', `the imprint has ${digest.length} bytes, which is not the length of ${algorithm}`);
  }
  if (policy !== undefined && policy !== POLICY) return refuse('unacceptedPolicy', `the only policy is ${POLICY}`);
  if (extensions) return refuse('unacceptedExtension', 'extensions are not supported');
  return { accepted: true, query: { algorithm, imprint: imprint.der, nonce, certReq } };
}

/** TimeStampReq taken apart, or undefined where it is none. */
function fieldsOf(body: Uint8Array) {
  const { offset, result } = fromBER(body);
  if (offset !== body.length || result.error !== '' || !isDer(result)) return undefined;
  const rest = members(result, TAG.sequence);
  const optional = (tag: number): BaseBlock | undefined => (tagOf(rest?.[0]) === tag ? rest?.shift() : undefined);
  const version = optional(TAG.integer);
  const imprint = imprintOf(optional(TAG.sequence));
  const policy = optional(TAG.objectIdentifier);
  const nonce = optional(TAG.integer);
  const certReq = optional(TAG.boolean);
  const extensions = optional(TAG.extensions);
  if (version === undefined || imprint === undefined || rest?.length !== 0) return undefined;
  if (!isInteger(version) || (nonce !== undefined && !isInteger(nonce))) return undefined;
  // FALSE is the default, which DER leaves out; some clients write it all the same, and there is no doubt what it means.
  const asked = certReq === undefined ? 0 : contents(certReq)[0];
  if (asked !== 0 && asked !== 0xff) return undefined;
  return {
    version,
    imprint,
    policy: policy instanceof ObjectIdentifier ? policy.getValue() : undefined,
    nonce: nonce?.valueBeforeDecodeView,
    certReq: asked === 0xff,
    extensions: extensions !== undefined,
  };
}

/** MessageImprint: an AlgorithmIdentifier, whose parameters are absent or NULL (RFC 5754, section 2), and the digest. */
function imprintOf(block: BaseBlock | undefined) {
  const [identifier, digest, ...others] = members(block, TAG.sequence) ?? [];
  const [oid, parameters, ...more] = members(identifier, TAG.sequence) ?? [];
  if (block === undefined || digest === undefined || tagOf(digest) !== TAG.octetString || others.length > 0) {
    return undefined;
  }
  if (!(oid instanceof ObjectIdentifier) || more.length > 0) return undefined;
  const plain = parameters === undefined || (tagOf(parameters) === TAG.null && contents(parameters).length === 0);
  return {
    algorithm: plain ? ALGORITHMS.get(oid.getValue()) : undefined,
    digest: contents(digest),
    der: block.valueBeforeDecodeView,
  };
}

function members(block: BaseBlock | undefined, tag: number): BaseBlock[] | undefined {
  return block instanceof Sequence && tagOf(block) === tag ? [...block.valueBlock.value] : undefined;
}

/** Class, construction and number in one byte; none of a request's is a longer one. */
function tagOf(block: BaseBlock | undefined): number | undefined {
  return block?.valueBeforeDecodeView[0];
}

function contents(block: BaseBlock): Uint8Array {
  const { valueBeforeDecodeView: der } = block;
  return der.subarray(der.length - block.lenBlock.length);
}

/** Every length definite and as short as it can be (X.690, 10.1). */
function isDer(block: BaseBlock): boolean {
  const { length, isIndefiniteForm } = block.lenBlock;
  const lengthOctets = length < 0x80 ? 1 : length < 0x100 ? 2 : 3; // a body has less than 64 KiB
  if (isIndefiniteForm || block.valueBeforeDecodeView.length !== 1 + lengthOctets + length) return false;
  return !(block instanceof Constructed) || block.valueBlock.value.every(isDer);
}

/** Whether its contents are as short as they can be (X.690, 8.3.2). */
function isInteger(block: BaseBlock): boolean {
  const [first, second = 0] = contents(block);
  if (first === undefined) return false;
  const redundant = (first === 0 && second < 0x80) || (first === 0xff && second >= 0x80);
  return contents(block).length === 1 || !redundant;
}
