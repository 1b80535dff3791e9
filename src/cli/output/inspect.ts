import { type NamedObject, objectName } from '../../asn1/object-names.ts';
import { pem } from '../../crypto/pem.ts';
import type { Finding } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import type { Detail } from '../../format/signature.ts';
import type { InspectedAttribute, InspectedValue } from '../../verifying/inspect-attributes.ts';
import type { InspectedCertificate } from '../../verifying/inspect-certificates.ts';
import type {
  InspectedFile,
  InspectedSignature,
  InspectedSigner,
  InspectedTimestamp,
} from '../../verifying/inspect-file.ts';
import { shown } from './lines.ts';
import { field, hang, paragraph } from './text-layout.ts';
import { findingJson } from './verdict-json.ts';

/** `inspect` omits the DER form of certificates, which `--certificates` prints. */
const LEFT_OUT = 'der';

/** Returns the members of the library's type, with bytes in hexadecimal, and null in place of undefined. */
export function inspectJson(file: InspectedFile): object {
  return Object.fromEntries(membersOf(file));
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).flatMap(([name, member]) => (name === LEFT_OUT ? [] : [[name, plain(member)]]));
}

function plain(value: unknown): unknown {
  if (value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return isFinding(value) ? findingJson(value) : Object.fromEntries(membersOf(value));
}

function isFinding(value: object): value is Finding {
  return 'weight' in value;
}

/** Prints each certificate once, after its subject and issuer. */
export function certificatesPem({ signatures }: InspectedFile): string {
  const distinct = new Map(signatures.flatMap(certificatesOf).map((certificate) => [certificate.sha256, certificate]));
  return [...distinct.values()]
    .map(
      ({ subject, issuer, der }) =>
        `subject=${comment(subject)}\nissuer=${comment(issuer)}\n${pem('CERTIFICATE', der)}`,
    )
    .join('\n');
}

function certificatesOf({ certificates, timestamps, nested }: InspectedSignature): InspectedCertificate[] {
  return [
    ...certificates,
    ...timestamps.flatMap((timestamp) => timestamp.certificates),
    ...nested.flatMap(certificatesOf),
  ];
}

/** PEM readers look for dashes anywhere in a line. */
function comment(name: string): string {
  return shown(name).replaceAll('-----', '- - -');
}

const NAME_COLUMNS = 22;
const ISSUER_INDENT = 2;
/** Limit on the indentation of a hostile certificate chain. */
const DEEPEST = 6;
const CERTIFICATE_NAME_COLUMNS = 15;
/** Requires six components, because version numbers have fewer. */
const OBJECT_IDENTIFIER = /(?<![\d.])[0-2](?:\.\d+){5,}(?![\d.]*\d)/g;
const KINDS = { rfc3161: 'RFC 3161', authenticode: 'Authenticode countersignature' } as const;
const KEY_TYPES: Readonly<Record<string, string>> = { rsa: 'RSA', 'rsa-pss': 'RSA-PSS', ec: 'EC', dsa: 'DSA' };
const NO_VERDICT = 'Trust is not checked here: use codesign-remote verify.';

export function inspectText(file: InspectedFile): string {
  const { signatures } = file;
  const lines = [
    ...paragraph(shown(file.path), 0),
    ...line('format', file.title),
    ...line('size', plural(file.size, 'byte')),
    ...file.layout.flatMap(detailLines),
    ...findingLines(file.findings, 2),
    ...signatures.flatMap((signature) => ['', ...signatureLines(signature, undefined)]),
    '',
    ...(signatures.length === 0 ? ['The file contains no signature.'] : paragraph(NO_VERDICT, 0)),
  ];
  return `${lines.join('\n')}\n`;
}

const ENVELOPES: Readonly<Record<InspectedSignature['kind'], string>> = {
  cms: 'CMS',
  xml: 'XML signature',
  value: 'signature value',
};

function signatureLines(signature: InspectedSignature, outer: number | undefined): string[] {
  const { number, signers, certificates, timestamps } = signature;
  const where = outer === undefined ? '' : `, nested in signature ${outer}`;
  return [
    ...hang('', `Signature ${number}${where}: ${shown(signature.place)}`, 2),
    ...line('signer', shown(signature.signer)),
    ...line('intact', signature.intact ? 'yes' : 'NO'),
    ...(signature.algorithm === undefined ? [] : line('digest algorithm', signature.algorithm)),
    ...signature.details.flatMap(detailLines),
    ...(signature.contentType === undefined ? [] : line('content type', named(signature.contentType))),
    ...line(ENVELOPES[signature.kind], plural(signature.length, 'byte')),
    ...findingLines(signature.findings, 2),
    ...signers.flatMap((signer) => signerLines(signer, signers.length > 1)),
    ...section(`Certificates (${certificates.length})`, certificateLines(certificates, 4)),
    ...timestamps.flatMap((timestamp) => section('Timestamp', timestampLines(timestamp))),
    ...signature.nested.flatMap((nested) => ['', ...signatureLines(nested, number)]),
  ];
}

/** Names the signer only if there are several: an earlier line names a single signer. */
function signerLines(signer: InspectedSigner, isOneOfSeveral: boolean): string[] {
  const { issuer, serialNumber, certificate } = signer;
  return [
    ...(isOneOfSeveral ? ['', ...line('SignerInfo of', shown(signer.name))] : []),
    ...(certificate === undefined && issuer !== undefined ? line('certificate by', shown(issuer)) : []),
    ...(certificate === undefined && serialNumber !== undefined ? line('its serial number', serialNumber) : []),
    ...line('signed with', algorithmText(signer)),
    ...line('signature value', plural(signer.signature.length, 'byte')),
    ...section('Signed attributes', signer.signedAttributes.flatMap(attributeLines)),
    ...section('Unsigned attributes', signer.unsignedAttributes.flatMap(attributeLines)),
  ];
}

/** Adds the digest if the identifier of the signature algorithm does not include it. */
function algorithmText({ signatureAlgorithm, digestAlgorithm }: InspectedSigner): string {
  const [how, digest] = [named(signatureAlgorithm), named(digestAlgorithm)];
  return how.includes(digest) ? how : `${how} with ${digest}`;
}

function timestampLines(timestamp: InspectedTimestamp): string[] {
  const { time, algorithm, policy, serialNumber, certificates } = timestamp;
  const detail = (name: string, value: string) => field(name, value, 4, NAME_COLUMNS - 2);
  return [
    ...detail('kind', KINDS[timestamp.kind]),
    ...detail('time', time === undefined ? 'not readable' : dateTime(time)),
    ...detail('authority', shown(timestamp.signer)),
    ...detail('intact', timestamp.intact ? 'yes' : 'NO'),
    ...(algorithm === undefined ? [] : detail('digest algorithm', algorithm.toUpperCase())),
    ...(policy === undefined ? [] : detail('policy', named(policy))),
    ...(serialNumber === undefined ? [] : detail('serial number', serialNumber)),
    ...findingLines(timestamp.findings, 4),
    ...(certificates.length === 0
      ? []
      : [`    Certificates (${certificates.length})`, ...certificateLines(certificates, 6)]),
  ];
}

function certificateLines(certificates: readonly InspectedCertificate[], indent: number): string[] {
  let level = 0;
  return certificates.flatMap((certificate, index) => {
    const isIssuer = index > 0 && certificates[index - 1]?.issuerIndex === index;
    level = isIssuer ? Math.min(level + 1, DEEPEST) : 0;
    return oneCertificateLines(certificate, indent + level * ISSUER_INDENT);
  });
}

function oneCertificateLines(certificate: InspectedCertificate, indent: number): string[] {
  const { name, notBefore, notAfter, signatureAlgorithm, keyUsage, extendedKeyUsage, policies } = certificate;
  const detail = (label: string, value: string) =>
    field(label, value, indent + ISSUER_INDENT, CERTIFICATE_NAME_COLUMNS);
  const valid =
    notBefore === undefined || notAfter === undefined
      ? 'not readable'
      : `${dateTime(notBefore)} to ${dateTime(notAfter)}`;
  return [
    ...hang(`${' '.repeat(indent)}- `, shown(name), indent + ISSUER_INDENT),
    ...detail('subject', shown(certificate.subject)),
    ...detail('issuer', certificate.isSelfSigned ? 'itself' : shown(certificate.issuer)),
    ...detail('serial number', certificate.serialNumber),
    ...detail('valid', valid),
    ...detail('key', keyText(certificate)),
    ...(signatureAlgorithm === undefined ? [] : detail('signed with', named(signatureAlgorithm))),
    ...(certificate.isAuthority ? detail('authority', 'yes') : []),
    ...(keyUsage === undefined ? [] : detail('key usage', keyUsage.join(', '))),
    ...(extendedKeyUsage === undefined ? [] : detail('purposes', list(extendedKeyUsage))),
    ...(policies.length === 0 ? [] : detail('policies', list(policies))),
    ...detail('SHA-256', certificate.sha256),
    ...detail('SHA-1', certificate.sha1),
  ];
}

function keyText({ publicKey }: InspectedCertificate): string {
  if (publicKey === undefined) return 'of a kind that cannot be read';
  const { type, bits, curve } = publicKey;
  const size = bits === undefined ? [] : [`${bits} bits`];
  return [KEY_TYPES[type] ?? type, ...size, ...(curve ? [curve] : [])].join(', ');
}

function list(objects: readonly NamedObject[]): string {
  return objects.map(named).join(', ');
}

function attributeLines({ type, values }: InspectedAttribute): string[] {
  const detail = (value: string) => field(shown(named(type)), value, 4, NAME_COLUMNS + 2);
  return values.length === 0 ? detail('without a value') : values.flatMap((value) => detail(valueText(value)));
}

function valueText({ text, length }: InspectedValue): string {
  return text === undefined ? plural(length, 'byte') : shown(text);
}

function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`  ${heading}`, ...lines];
}

function detailLines({ name, value }: Detail): string[] {
  return line(shown(name), value === '' ? 'empty' : shown(withNames(value)));
}

function withNames(text: string): string {
  return text.replace(OBJECT_IDENTIFIER, (oid) => objectName(oid) ?? oid);
}

function findingLines(findings: readonly Finding[], indent: number): string[] {
  return findings.flatMap(({ weight, message, code }) =>
    hang(`${' '.repeat(indent)}${weight}: `, `${shown(withNames(message))} [${code}]`, indent + 2),
  );
}

function line(name: string, value: string): string[] {
  return field(name, value, 2, NAME_COLUMNS);
}

function named({ oid, name }: NamedObject): string {
  return name ?? oid;
}

function dateTime(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
