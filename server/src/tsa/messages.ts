/** The messages of the timestamp authority (RFC 3161, section 2.4): requests, read strictly, and responses. */

import { Boolean as Asn1Boolean, BitString, Integer, Null, OctetString, Utf8String } from 'asn1js';
import {
  AlgorithmIdentifier,
  type ContentInfo,
  MessageImprint,
  PKIStatus,
  PKIStatusInfo,
  TimeStampReq,
  TimeStampResp,
} from 'pkijs';
import { DIGEST_LENGTH, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { encode } from '../certificates/x509.ts';

/** The bit of PKIFailureInfo (2.4.2) for each reason this authority has to refuse. */
const FAILURE_BIT = {
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

/** SHA-1 is not accepted: a requester could create two contents with the same digest, and one token would be valid for both. */
const ALGORITHMS: ReadonlyMap<string, DigestAlgorithm> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'SHA256'],
  ['2.16.840.1.101.3.4.2.2', 'SHA384'],
  ['2.16.840.1.101.3.4.2.3', 'SHA512'],
]);

export interface TimestampQuery {
  readonly algorithm: DigestAlgorithm;
  /** It encodes to the bytes that came, as the token must hold them; the nonce does too. */
  readonly imprint: MessageImprint;
  readonly nonce: Integer | undefined;
  /** Whether the token is to hold the authority's certificates. */
  readonly certReq: boolean;
}

export type QueryCheck =
  | { readonly accepted: true; readonly query: TimestampQuery }
  | { readonly accepted: false; readonly failure: Failure; readonly message: string };

/** Checks the body of a request. The caller has bounded its length; asn1js bounds its depth. */
export function checkQuery(body: Uint8Array): QueryCheck {
  const refuse = (failure: Failure, message: string): QueryCheck => ({ accepted: false, failure, message });
  const malformed = refuse('badDataFormat', 'the request is not a TimeStampReq in DER');
  const request = readRequest(body);
  if (request === undefined) return malformed;
  if (request.version !== 1) return refuse('badRequest', 'the version is not 1');

  const { hashAlgorithm, hashedMessage } = request.messageImprint;
  const algorithm = hasParameters(hashAlgorithm) ? undefined : ALGORITHMS.get(hashAlgorithm.algorithmId);
  if (algorithm === undefined) return refuse('badAlg', 'the imprint is not of SHA-256, SHA-384 or SHA-512');
  const { length } = hashedMessage.valueBlock.valueHexView;
  if (length !== DIGEST_LENGTH[algorithm]) {
    return refuse('badDataFormat', `the length of the imprint in bytes, ${length}, is not that of ${algorithm}`);
  }
  const { reqPolicy } = request;
  if (reqPolicy !== undefined && reqPolicy !== POLICY) {
    return refuse('unacceptedPolicy', `the only policy is ${POLICY}`);
  }
  if (request.extensions !== undefined) return refuse('unacceptedExtension', 'extensions are not supported');

  const canonical = inDer(request);
  if (!encodings(canonical).some((der) => der.equals(body))) return malformed;
  const { messageImprint, nonce, certReq = false } = canonical;
  return { accepted: true, query: { algorithm, imprint: messageImprint, nonce, certReq } };
}

function readRequest(body: Uint8Array): TimeStampReq | undefined {
  try {
    return TimeStampReq.fromBER(body);
  } catch {
    return undefined; // pkijs throws errors of several classes for what is not a request
  }
}

/** Parameters other than NULL: with a digest they are absent or NULL (RFC 5754, section 2). */
function hasParameters({ algorithmParams }: AlgorithmIdentifier): boolean {
  return algorithmParams !== undefined && !(algorithmParams instanceof Null && algorithmParams.lenBlock.length === 0);
}

/** The same request made of its values alone: asn1js reads BER and keeps the form of the lengths that it read. */
function inDer({ version, messageImprint, reqPolicy, nonce, certReq }: TimeStampReq): TimeStampReq {
  const { hashAlgorithm, hashedMessage } = messageImprint;
  const { algorithmId, algorithmParams } = hashAlgorithm;
  return new TimeStampReq({
    version,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({
        algorithmId,
        ...(algorithmParams === undefined ? {} : { algorithmParams: new Null() }),
      }),
      hashedMessage: new OctetString({ valueHex: hashedMessage.valueBlock.valueHexView }),
    }),
    ...(reqPolicy === undefined ? {} : { reqPolicy }),
    ...(nonce === undefined ? {} : { nonce: Integer.fromBigInt(nonce.toBigInt()) }),
    ...(certReq === undefined ? {} : { certReq }),
  });
}

/** Without a certReq of FALSE, which DER leaves out as the default, and with it: some clients write it, and its meaning is clear. */
function encodings(request: TimeStampReq): readonly Buffer[] {
  const plain = request.toSchema();
  if (request.certReq !== false) return [encode(plain)];
  const before = encode(plain);
  plain.valueBlock.value.push(new Asn1Boolean({ value: false }));
  return [before, encode(plain)];
}

/** The response with a token, in DER. */
export function granted(timeStampToken: ContentInfo): Buffer {
  const status = new PKIStatusInfo({ status: PKIStatus.granted });
  return encode(new TimeStampResp({ status, timeStampToken }).toSchema());
}

/** The response with the reason why there is no token, in DER. @param message for people */
export function rejected(failure: Failure, message: string): Buffer {
  const status = new PKIStatusInfo({
    status: PKIStatus.rejection,
    statusStrings: [new Utf8String({ value: message })],
    failInfo: namedBit(FAILURE_BIT[failure]),
  });
  return encode(new TimeStampResp({ status }).toSchema());
}

/** A BIT STRING with this one bit set, and no bits after it (X.690, 11.2.2). */
function namedBit(bit: number): BitString {
  const valueHex = new Uint8Array(Math.floor(bit / 8) + 1);
  const unusedBits = 7 - (bit % 8);
  valueHex[valueHex.length - 1] = 1 << unusedBits;
  return new BitString({ valueHex, unusedBits });
}
