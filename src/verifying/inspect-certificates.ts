/** The certificates that a signature carries, for people: each with what it says, and in the order of its chains. */

import { createHash } from 'node:crypto';
import { CERTIFICATE_POLICIES, KEY_USAGE } from '../asn1/object-identifiers.ts';
import { type NamedObject, namedObject } from '../asn1/object-names.ts';
import { algorithmOf, bitsOf, fieldsOf, objectIdentifierOf, parts, readDer, readElement } from '../asn1/read.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import {
  basicConstraintsOf,
  type CertificateFields,
  extendedKeyUsageOf,
  extensionOf,
  readCertificateFields,
} from '../certificates/certificate-fields.ts';
import { readName } from '../certificates/names.ts';
import {
  hasSigned,
  type ParsedCertificate,
  parseCertificate,
  publicKeyOf,
} from '../certificates/parsed-certificate.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { hexOf } from './inspect-attributes.ts';

export interface InspectedCertificate {
  /** Raw, as all names: may hold control characters. */
  readonly name: string;
  readonly subject: string;
  readonly issuer: string;
  /** In hexadecimal. */
  readonly serialNumber: string;
  /** Undefined, as `publicKey`, when OpenSSL cannot read the certificate. */
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  readonly publicKey: InspectedKey | undefined;
  /** Undefined when it cannot be read. */
  readonly signatureAlgorithm: NamedObject | undefined;
  readonly isAuthority: boolean;
  /** By the names of RFC 5280; undefined without the extension, which allows all. */
  readonly keyUsage: readonly string[] | undefined;
  readonly extendedKeyUsage: readonly NamedObject[] | undefined;
  readonly policies: readonly NamedObject[];
  readonly sha256: string;
  /** What Windows calls the thumbprint. */
  readonly sha1: string;
  readonly isSelfSigned: boolean;
  /** Where in the list its issuer is; undefined when it is not there, or is the certificate itself. */
  readonly issuerIndex: number | undefined;
  readonly der: Uint8Array;
}

export interface InspectedKey {
  /** As node:crypto calls it: `rsa`, `ec`. */
  readonly type: string;
  readonly bits: number | undefined;
  readonly curve: string | undefined;
}

interface Node {
  readonly der: Uint8Array;
  /** Undefined when OpenSSL cannot read it. */
  readonly parsed: ParsedCertificate | undefined;
  /** Set when all are parsed. */
  issuer?: Node | undefined;
}

/** In the order of the bits (RFC 5280, 4.2.1.3). */
const KEY_USAGES = [
  'digitalSignature',
  'contentCommitment',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
];
/** Checks of signatures for one file: an honest one needs one for each certificate. */
const MAX_CHECKS = 400;

/** Whether one certificate's key signed the other: as `hasSigned`, for the certificates of one file. */
export type CheckIssuer = typeof hasSigned;

/** After so many slow checks, every further certificate counts as not signed by any other. */
export function issuerChecks(): CheckIssuer {
  let left = MAX_CHECKS;
  return (issuer, certificate) => {
    if (issuer.subjectKey !== certificate.issuerKey || left === 0) return false;
    left -= 1;
    return hasSigned(issuer, certificate);
  };
}

/** Each once: the signers' first, each followed by its issuer, and so on. */
export function inspectCertificates(
  certificates: readonly Uint8Array[],
  signers: readonly (Uint8Array | undefined)[],
  isIssuer: CheckIssuer = issuerChecks(),
): InspectedCertificate[] {
  const ordered = inOrderOfChains(linked(distinct(certificates), isIssuer), signers);
  return ordered.map((node) => inspectNode(node, ordered, isIssuer));
}

function distinct(certificates: readonly Uint8Array[]): Uint8Array[] {
  return [...new Map(certificates.map((der) => [fingerprintOf(der), der])).values()];
}

function linked(certificates: readonly Uint8Array[], isIssuer: CheckIssuer): Node[] {
  const nodes = certificates.map(
    (der): Node => ({ der, parsed: orUndefined(() => parseCertificate(der, 'the signature')) }),
  );
  for (const node of nodes) {
    const { parsed } = node;
    if (parsed === undefined) continue;
    node.issuer = nodes.find((other) => other !== node && other.parsed !== undefined && isIssuer(other.parsed, parsed));
  }
  return nodes;
}

function inOrderOfChains(nodes: readonly Node[], signers: readonly (Uint8Array | undefined)[]): Node[] {
  const issuers = new Set(nodes.map(({ issuer }) => issuer));
  const isSigner = ({ der }: Node) => signers.some((signer) => signer !== undefined && isSameBytes(signer, der));
  const starts = [...nodes.filter(isSigner), ...nodes.filter((node) => !issuers.has(node)), ...nodes];
  const ordered = new Set<Node>();
  for (const start of starts) {
    for (let node: Node | undefined = start; node !== undefined && !ordered.has(node); node = node.issuer) {
      ordered.add(node);
    }
  }
  return [...ordered];
}

function inspectNode(
  { der, parsed, issuer }: Node,
  ordered: readonly Node[],
  isIssuer: CheckIssuer,
): InspectedCertificate {
  const fields = readCertificateFields(der);
  const subject = orUndefined(() => readName(fields.subject));
  const text = subject?.text ?? hexOf(fields.subject);
  const extendedKeyUsage = orUndefined(() => extendedKeyUsageOf(fields));
  return {
    name: subject?.commonName ?? text,
    subject: text,
    issuer: orUndefined(() => readName(fields.issuer).text) ?? hexOf(fields.issuer),
    serialNumber: hexOf(readElement(fields.serialNumber, 'serial number').contents),
    notBefore: parsed?.notBefore,
    notAfter: parsed?.notAfter,
    publicKey: parsed === undefined ? undefined : inspectKey(parsed),
    signatureAlgorithm: orUndefined(() =>
      namedObject(algorithmOf(readDer(fields.signatureAlgorithm, 'signature algorithm'), 'signature algorithm')),
    ),
    isAuthority: orUndefined(() => basicConstraintsOf(fields))?.isAuthority ?? false,
    keyUsage: orUndefined(() => keyUsageOf(fields)),
    extendedKeyUsage: extendedKeyUsage?.map(namedObject),
    policies: orUndefined(() => policiesOf(fields)) ?? [],
    sha256: fingerprintOf(der),
    sha1: createHash('sha1').update(der).digest('hex'),
    isSelfSigned: parsed !== undefined && isIssuer(parsed, parsed),
    issuerIndex: issuer === undefined ? undefined : ordered.indexOf(issuer),
    der,
  };
}

function inspectKey(certificate: ParsedCertificate): InspectedKey | undefined {
  const key = publicKeyOf(certificate);
  if (key?.asymmetricKeyType === undefined) return undefined;
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  return { type: key.asymmetricKeyType, bits: modulusLength, curve: namedCurve };
}

function keyUsageOf(fields: CertificateFields): string[] | undefined {
  const extension = extensionOf(fields, KEY_USAGE, 'keyUsage');
  const [bits = 0] = extension === undefined ? [] : bitsOf(extension, 'keyUsage');
  return extension && KEY_USAGES.filter((_, index) => (bits & (0x80 >> index)) !== 0);
}

function policiesOf(certificate: CertificateFields): NamedObject[] {
  const what = 'certificatePolicies';
  const extension = extensionOf(certificate, CERTIFICATE_POLICIES, what);
  return (extension === undefined ? [] : parts(extension, what)).map((policy) =>
    namedObject(objectIdentifierOf(fieldsOf(policy, 0x30, what).next(0x06, 'policy'), what)),
  );
}
