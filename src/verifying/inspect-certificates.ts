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
  hasSigned,
  type ParsedCertificate,
  parseCertificate,
  publicKeyOf,
  readCertificateFields,
} from '../certificates/certificate.ts';
import { readName } from '../certificates/names.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { orUndefined } from '../errors/codesign-error.ts';
import { hexOf } from './inspect-attributes.ts';

export interface InspectedCertificate {
  /** Like all names in this file, this name is not escaped, so it may contain control characters. */
  readonly name: string;
  readonly subject: string;
  readonly issuer: string;
  readonly serialNumber: string;
  /** Like `publicKey`, this member is undefined if OpenSSL cannot read the certificate. */
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  readonly publicKey: InspectedKey | undefined;
  readonly signatureAlgorithm: NamedObject | undefined;
  readonly isAuthority: boolean;
  /** Names from RFC 5280. If the extension is missing, the value is undefined, and all uses are permitted. */
  readonly keyUsage: readonly string[] | undefined;
  readonly extendedKeyUsage: readonly NamedObject[] | undefined;
  readonly policies: readonly NamedObject[];
  readonly sha256: string;
  /** Windows calls this digest the thumbprint. */
  readonly sha1: string;
  readonly isSelfSigned: boolean;
  /** undefined if the issuer is not in the list, or if the certificate is its own issuer. */
  readonly issuerIndex: number | undefined;
  readonly der: Uint8Array;
}

export interface InspectedKey {
  readonly type: string;
  readonly bits: number | undefined;
  readonly curve: string | undefined;
}

interface Node {
  readonly der: Uint8Array;
  /** undefined if OpenSSL cannot read the certificate. */
  readonly parsed: ParsedCertificate | undefined;
  issuer?: Node | undefined;
}

/** Key usages in the order of their bits (RFC 5280, section 4.2.1.3). */
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
/** Limit on signature checks for one file. A real file needs one check per certificate. */
const MAX_CHECKS = 400;

export type CheckIssuer = typeof hasSigned;

/** After the last permitted check, no issuer is reported for the remaining certificates. */
export function issuerChecks(): CheckIssuer {
  let left = MAX_CHECKS;
  return (issuer, certificate) => {
    if (issuer.subjectKey !== certificate.issuerKey || left === 0) return false;
    left -= 1;
    return hasSigned(issuer, certificate);
  };
}

/** Signers come first, and each certificate is followed by its issuer. */
export function inspectCertificates(
  certificates: readonly Uint8Array[],
  signers: readonly (Uint8Array | undefined)[],
  isIssuer: CheckIssuer = issuerChecks(),
): InspectedCertificate[] {
  const distinct = new Map(certificates.map((der) => [fingerprintOf(der), der]));
  const ordered = inOrderOfChains(linked([...distinct.values()], isIssuer), signers);
  return ordered.map((node) => inspectNode(node, ordered, isIssuer));
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
