import { createHash } from 'node:crypto';
import { DIGEST_OID, digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { CERTIFICATE_TRANSPARENCY, OCSP_BASIC_RESPONSE, OCSP_SIGNING } from '../../asn1/object-identifiers.ts';
import {
  algorithmOf,
  bitsOf,
  type Element,
  expectTag,
  fieldsOf,
  objectIdentifierOf,
  octetsOf,
  onlyPart,
  parts,
  readDer,
} from '../../asn1/read.ts';
import { readTime } from '../../asn1/times.ts';
import { nullValue, objectIdentifier, octetString, sequence } from '../../asn1/write.ts';
import { isSameBytes } from '../../bytes/byte-source.ts';
import { expectedError, orUndefined } from '../../errors/codesign-error.ts';
import { isAgainst } from '../../errors/finding.ts';
import {
  allowsKeyUsage,
  type Extension,
  extendedKeyUsageOf,
  hasSigned,
  KEY_USAGE_BITS,
  type ParsedCertificate,
  parseCertificate,
  readExtensions,
} from '../certificate.ts';
import { examinePath } from '../examine-path.ts';
import { readName } from '../names.ts';
import { isSignedBy } from '../signature-algorithm.ts';
import { combineStatuses, type RevocationStatus, stalenessOf, unknownBecause } from './status.ts';

/** Every responder supports SHA-1. A weak digest is harmless, because the response contains the serial number. */
export function buildOcspRequest(certificate: ParsedCertificate, issuer: ParsedCertificate): Uint8Array {
  const { nameDigest, keyDigest } = issuerDigests(certificate, issuer, 'sha1');
  const algorithm = sequence(objectIdentifier(DIGEST_OID.SHA1), nullValue());
  const id = sequence(algorithm, octetString(nameDigest), octetString(keyDigest), certificate.fields.serialNumber);
  return sequence(sequence(sequence(sequence(id))));
}

function issuerDigests(certificate: ParsedCertificate, issuer: ParsedCertificate, digestName: string) {
  return {
    nameDigest: createHash(digestName).update(certificate.fields.issuer).digest(),
    keyDigest: createHash(digestName).update(keyBitsOf(issuer)).digest(),
  };
}

function keyBitsOf({ fields }: ParsedCertificate): Uint8Array {
  const info = fieldsOf(readDer(fields.publicKeyInfo, 'public key'), 0x30, 'public key');
  info.next(0x30, 'algorithm');
  return bitsOf(info.next(0x03, 'key'), 'public key');
}

/** Never throws: for an invalid response, the status is "unknown". */
export function statusByOcsp(
  der: Uint8Array,
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  now: Date,
): RevocationStatus {
  try {
    const response = readOcspResponse(der);
    if (typeof response === 'string') return unknownBecause(response);
    const problem = signerProblem(response, issuer, now);
    if (problem !== undefined) return unknownBecause(problem);
    const answers = response.answers.filter((one) => isAbout(one, certificate, issuer));
    if (answers.length === 0) return unknownBecause('it is about another certificate');
    const statuses = answers.map(({ status, thisUpdate, nextUpdate }) => {
      // As with a CRL, "revoked" applies even if the response is outdated.
      const staleness = status.kind === 'revoked' ? undefined : stalenessOf(thisUpdate, nextUpdate, now);
      return staleness === undefined ? status : unknownBecause(staleness);
    });
    const combined = combineStatuses(statuses);
    if (combined.kind === 'revoked') return combined;
    // Certificate Transparency logs say nothing about revocation.
    const critical = response.criticalExtensions.find((type) => type !== CERTIFICATE_TRANSPARENCY);
    if (critical !== undefined) return unknownBecause(`its critical extension ${critical} is not supported`);
    return statuses.find(({ kind }) => kind === 'unknown') ?? combined;
  } catch (thrown) {
    return unknownBecause(expectedError(thrown).message);
  }
}

function isAbout(answer: OcspAnswer, certificate: ParsedCertificate, issuer: ParsedCertificate): boolean {
  const digestName = digestAlgorithmOf(answer.digestAlgorithm)?.toLowerCase();
  if (digestName === undefined) return false;
  const { nameDigest, keyDigest } = issuerDigests(certificate, issuer, digestName);
  return (
    isSameBytes(answer.serialNumber, certificate.fields.serialNumber) &&
    isSameBytes(answer.issuerNameDigest, nameDigest) &&
    isSameBytes(answer.issuerKeyDigest, keyDigest)
  );
}

/**
 * The signer must be the issuer, or have a certificate from the issuer for signing responses (RFC 6960, section
 * 4.2.2.2). Such a certificate is not checked for revocation, because it is valid only for weeks
 * (id-pkix-ocsp-nocheck).
 */
function signerProblem(response: OcspResponse, issuer: ParsedCertificate, now: Date): string | undefined {
  const candidates = [
    issuer,
    ...response.certificates.flatMap((der) => orUndefined(() => parseCertificate(der, 'OCSP response')) ?? []),
  ];
  const signer = candidates.find((one) => isResponder(response, one) && isSignedBy(one, response));
  if (signer === undefined) return 'its signature was not made by the responder that it names';
  if (signer === issuer || isSameBytes(signer.der, issuer.der)) return undefined;
  if (!hasSigned(issuer, signer)) return `another authority issued the certificate of its signer "${signer.name}"`;
  if (!(extendedKeyUsageOf(signer.fields)?.includes(OCSP_SIGNING) ?? false)) {
    return `the certificate of its signer "${signer.name}" does not permit OCSP responses (extendedKeyUsage)`;
  }
  if (!allowsKeyUsage(signer.fields, KEY_USAGE_BITS.digitalSignature))
    return `the certificate of its signer "${signer.name}" does not permit signatures (keyUsage)`;
  if (now < signer.notBefore || signer.notAfter < now) {
    return `the certificate of its signer "${signer.name}" has expired or is not valid yet`;
  }
  const findings = examinePath({ certificates: [signer, issuer], isAnchored: true, at: now, purpose: undefined });
  const objection = findings.find((finding) => isAgainst(finding, 'trust'));
  return objection && `the certificate of its signer "${signer.name}" is not accepted (${objection.code})`;
}

/** ResponderID is a name (`[1]`), or the SHA-1 digest of a key (`[2]`). */
function isResponder({ responder }: OcspResponse, candidate: ParsedCertificate): boolean {
  if (responder.tag === 0xa1) return readName(responder.contents).key === candidate.subjectKey;
  if (responder.tag !== 0xa2) return false;
  const digest = createHash('sha1').update(keyBitsOf(candidate)).digest();
  return isSameBytes(responder.contents.subarray(2), digest);
}

type OcspResponse = Exclude<ReturnType<typeof readOcspResponse>, string>;
type OcspAnswer = ReturnType<typeof readAnswer>;

const MAX_CERTIFICATES = 10;
const REFUSALS: Readonly<Record<number, string>> = {
  1: 'it did not understand the request',
  2: 'it had an internal error',
  3: 'it asks to try again later',
  5: 'it requires signed requests',
  6: 'it does not accept requests from this client',
};

/** Returns a message if the responder reports an error. */
export function readOcspResponse(der: Uint8Array) {
  const what = 'OCSP response';
  const outer = fieldsOf(readDer(der, what), 0x30, what);
  const status = outer.next(0x0a, 'status').contents[0] ?? 0;
  if (status !== 0) return REFUSALS[status] ?? `it rejects the request with status ${status}`;
  const typed = fieldsOf(onlyPart(outer.next(0xa0, 'response'), what), 0x30, what);
  const type = objectIdentifierOf(typed.next(0x06, 'type'), what);
  if (type !== OCSP_BASIC_RESPONSE) return `its response has the unsupported type ${type}`;

  const basic = fieldsOf(readDer(octetsOf(typed.any('response'), what), what), 0x30, what);
  const body = basic.next(0x30, 'body');
  const signatureAlgorithm = basic.next(0x30, 'signature algorithm').bytes;
  const signature = bitsOf(basic.next(0x03, 'signature'), what);
  const certificates = basic.optional(0xa0);
  const held = certificates === undefined ? [] : parts(onlyPart(certificates, what), what);

  const fields = fieldsOf(body, 0x30, what);
  fields.optional(0xa0); // version
  const responder = fields.any('responder');
  fields.next(0x18, 'time of production');
  const answers = parts(fields.next(0x30, 'answers'), what).map(readAnswer);
  const extensions = extensionsIn(fields.optional(0xa1));
  return {
    responder,
    answers,
    signedBytes: body.bytes,
    signatureAlgorithm,
    signature,
    certificates: held.slice(0, MAX_CERTIFICATES).map(({ bytes }) => bytes),
    criticalExtensions: [...extensions, ...answers.flatMap((one) => one.extensions)].flatMap(({ type, isCritical }) =>
      isCritical ? [type] : [],
    ),
  };
}

function extensionsIn(tagged: Element | undefined): readonly Extension[] {
  return readExtensions(tagged && onlyPart(tagged, 'OCSP extensions'), 'OCSP extensions');
}

function readAnswer(element: Element) {
  const what = 'OCSP response';
  const fields = fieldsOf(element, 0x30, what);
  const id = fieldsOf(fields.next(0x30, 'certificate'), 0x30, what);
  const digestAlgorithm = algorithmOf(id.next(0x30, 'digest algorithm'), what);
  const status = fields.any('status');
  const thisUpdate = readTime(fields.next(0x18, 'this update'), what);
  const nextUpdate = fields.optional(0xa0);
  const extensions = extensionsIn(fields.optional(0xa1));
  return {
    extensions,
    digestAlgorithm,
    issuerNameDigest: octetsOf(id.any('name'), what),
    issuerKeyDigest: octetsOf(id.any('key'), what),
    serialNumber: id.next(0x02, 'serial number').bytes,
    status: statusOf(status, thisUpdate),
    thisUpdate,
    nextUpdate: nextUpdate && readTime(onlyPart(nextUpdate, what), what),
  };
}

function statusOf(status: Element, thisUpdate: Date): RevocationStatus {
  if (status.tag === 0x80) return { kind: 'good' };
  if (status.tag !== 0xa1) return unknownBecause('it does not know the certificate');
  const [time, reason] = parts(status, 'OCSP status');
  const revokedAt = time ? readTime(time, 'OCSP status') : thisUpdate;
  const code = reason && expectTag(onlyPart(reason, 'OCSP status'), 0x0a, 'OCSP status').contents[0];
  return { kind: 'revoked', revoked: [{ revokedAt, reason: code }] };
}
