/** Checks which names an authority may certify (RFC 5280, section 4.2.1.10). */

import { isIPv4, isIPv6 } from 'node:net';
import { NAME_CONSTRAINTS, SUBJECT_ALTERNATIVE_NAME } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, parts, readDer } from '../asn1/read.ts';
import type { CertificateFields } from './certificate.ts';
import { GENERAL_NAME, readName, textOf } from './names.ts';

/** A real pair of certificates needs tens of comparisons; a hostile pair could need billions. */
const MAX_COMPARISONS = 10_000;
const LONGEST_LIST = 16 * 1024;
const LONGEST_TEXT = 100;

/** A name, or the base of a subtree of names. Values with the same tag can be compared. */
interface Comparable {
  readonly tag: number;
  readonly value: string;
}

interface Name extends Comparable {
  readonly text: string;
}

export function nameProblem(authority: CertificateFields, issued: CertificateFields): string | undefined {
  const list = authority.extensions.get(NAME_CONSTRAINTS);
  if (list === undefined) return undefined;
  const alternatives = issued.extensions.get(SUBJECT_ALTERNATIVE_NAME);
  if (Math.max(list.length, alternatives?.length ?? 0) > LONGEST_LIST) return 'they are too long to be compared';
  const constraints = constraintsOf(authority);
  const names = namesOf(issued);
  const count = constraints.permitted.length + constraints.excluded.length;
  if (names.length * count > MAX_COMPARISONS) return `${names.length} names and ${count} constraints are too many`;
  return names.map((name) => problemOf(name, constraints)).find((problem) => problem !== undefined);
}

// Each certificate in a path is compared with all others.
const constraintsOf = oncePerCertificate(readConstraints);
const namesOf = oncePerCertificate(readNames);

function oncePerCertificate<Value extends object>(read: (fields: CertificateFields) => Value) {
  const known = new WeakMap<CertificateFields, Value>();
  return (fields: CertificateFields): Value => {
    const value = known.get(fields) ?? read(fields);
    known.set(fields, value);
    return value;
  };
}

function problemOf({ tag, value, text }: Name, constraints: Constraints): string | undefined {
  const ofKind = (base: Comparable) => base.tag === tag;
  const permitted = constraints.permitted.filter(ofKind);
  const excluded = constraints.excluded.filter(ofKind);
  if (permitted.length + excluded.length === 0) return undefined;
  const matches = MATCHERS[tag];
  if (matches === undefined) return `they restrict names of an unknown kind (${text})`;
  if (tag === GENERAL_NAME.uniformResourceIdentifier && hostOf(value) === undefined) {
    return `they restrict hosts, but ${text} has none`;
  }
  if (excluded.some((base) => matches(value, base.value))) return `they exclude ${text}`;
  if (permitted.length === 0 || permitted.some((base) => matches(value, base.value))) return undefined;
  return `they do not permit ${text}`;
}

type Constraints = ReturnType<typeof readConstraints>;

function readConstraints({ extensions }: CertificateFields) {
  const extension = extensions.get(NAME_CONSTRAINTS) ?? new Uint8Array();
  const what = 'name constraints';
  const fields = fieldsOf(readDer(extension, what), 0x30, what);
  const permitted = fields.optional(0xa0);
  const excluded = fields.optional(0xa1);
  fields.end();
  return { permitted: basesIn(permitted, what), excluded: basesIn(excluded, what) };
}

/** Rejects the fields minimum and maximum. RFC 5280 permits only a minimum of 0, which DER omits. */
function basesIn(subtrees: Element | undefined, what: string): Comparable[] {
  if (subtrees === undefined) return [];
  return parts(subtrees, what).map((subtree) => {
    const fields = fieldsOf(subtree, 0x30, what);
    const base = fields.any('base');
    fields.end();
    return { tag: base.tag, value: comparable(base) };
  });
}

function readNames({ subject, extensions }: CertificateFields): Name[] {
  const { text, relativeKeys, emailAddresses } = readName(subject);
  const alternatives = extensions.get(SUBJECT_ALTERNATIVE_NAME);
  const what = 'subjectAltName';
  const elements = alternatives === undefined ? [] : parts(readDer(alternatives, what), what);
  const { directoryName, rfc822Name } = GENERAL_NAME;
  return [
    ...(relativeKeys.length === 0 ? [] : [{ tag: directoryName, value: directoryKey(relativeKeys), text }]),
    ...emailAddresses.map((address) => ({ tag: rfc822Name, value: address.toLowerCase(), text: address })),
    ...elements.map((element) => ({ tag: element.tag, value: comparable(element), text: nameText(element) })),
  ];
}

function nameText(element: Element): string {
  if (element.tag === GENERAL_NAME.directoryName) return readName(element.contents).text;
  const isText = (element.tag & 0x20) === 0 && element.tag !== GENERAL_NAME.iPAddress;
  const text = isText ? textOf(element) : `#${Buffer.from(element.contents).toString('hex')}`;
  return text.slice(0, LONGEST_TEXT);
}

function comparable(element: Element): string {
  switch (element.tag) {
    case GENERAL_NAME.directoryName:
      return directoryKey(readName(element.contents).relativeKeys);
    case GENERAL_NAME.iPAddress:
      return textOf(element);
    default:
      return textOf(element).toLowerCase();
  }
}

/** The key of a name starts with the keys of all names above it in the directory. */
function directoryKey(relativeKeys: readonly string[]): string {
  return relativeKeys.map((key) => `${key}\n`).join('');
}

const MATCHERS: Readonly<Record<number, (name: string, base: string) => boolean>> = {
  [GENERAL_NAME.directoryName]: (name, base) => name.startsWith(base),
  [GENERAL_NAME.dNSName]: isHostBelow,
  [GENERAL_NAME.rfc822Name]: (name, base) =>
    base.includes('@') ? name === base : isHostOf(name.slice(name.lastIndexOf('@') + 1), base),
  [GENERAL_NAME.uniformResourceIdentifier]: (name, base) => isHostOf(hostOf(name) ?? '', base),
  [GENERAL_NAME.iPAddress]: isAddressIn,
};

/** True for the base and all host names below it. An empty base matches every host. */
function isHostBelow(host: string, base: string): boolean {
  const plain = base.startsWith('.') ? base.slice(1) : base;
  return plain === '' || host === plain || host.endsWith(`.${plain}`);
}

/** A base with a leading dot matches only the names below it. Any other base matches only itself. */
function isHostOf(host: string, base: string): boolean {
  if (base === '') return true;
  return base.startsWith('.') ? host.endsWith(base) && host.length > base.length : host === base;
}

/** `range` contains an address and a mask. Each character of both texts is one octet. */
function isAddressIn(address: string, range: string): boolean {
  const { length } = address;
  if (range.length !== length * 2) return false;
  return [...address].every((octet, index) => {
    const mask = range.charCodeAt(length + index);
    return (octet.charCodeAt(0) & mask) === (range.charCodeAt(index) & mask);
  });
}

/** Returns undefined if the URI has no host, or has an IP address as its host. */
function hostOf(uri: string): string | undefined {
  const host = URL.canParse(uri) ? new URL(uri).hostname : '';
  return host === '' || isIPv4(host) || isIPv6(host.replace(/^\[|\]$/g, '')) ? undefined : host;
}
