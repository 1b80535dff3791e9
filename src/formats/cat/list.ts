/** A catalog is a certificate trust list (CTL_INFO in wincrypt.h) with the attributes of files (mscat.h). */

import {
  CATALOG_LIST,
  CATALOG_MEMBER,
  CATALOG_MEMBER_V2,
  CATALOG_NAME_VALUE,
  CERTIFICATE_TRUST_LIST,
  SPC_INDIRECT_DATA,
} from '../../asn1/object-identifiers.ts';
import {
  algorithmOf,
  type Element,
  fieldsOf,
  objectIdentifierOf,
  octetsOf,
  onlyPart,
  parts,
  readElement,
} from '../../asn1/read.ts';
import { readTime } from '../../asn1/times.ts';
import { readIndirectData } from '../../authenticode/read-authenticode.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import { readAttributeFields, readSignedDataParts } from '../../cms/signed-data-fields.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { ListedFile } from '../../format/signable-file.ts';

export interface Catalog {
  readonly cms: Uint8Array | undefined;
  readonly encapsulated: Element;
  readonly list: Element;
  /** Version 1 lists SHA-1 digests, version 2 SHA-256 digests. */
  readonly version: 1 | 2;
  readonly identifier: Uint8Array;
  readonly time: Date;
  readonly members: readonly CatalogMember[];
  readonly attributes: readonly NameValue[];
}

export interface CatalogMember {
  /** Windows finds the member by this tag: a digest in version 2, any text in version 1. */
  readonly tag: Uint8Array;
  readonly digest: { readonly algorithm: string; readonly value: Uint8Array } | undefined;
  readonly attributes: readonly NameValue[];
}

interface NameValue {
  readonly name: string;
  readonly value: string;
}

export function readCatalog(bytes: Uint8Array): Catalog {
  try {
    const { encapsulatedContent, signers } = readSignedDataParts(bytes);
    const fields = fieldsOf(encapsulatedContent, 0x30, 'content');
    const type = objectIdentifierOf(fields.next(0x06, 'type'), 'content type');
    if (type !== CERTIFICATE_TRUST_LIST) throw malformed(`its content has the type ${type}`);
    const list = onlyPart(fields.next(0xa0, 'content'), 'content');
    fields.end();
    const cms = signers.length === 0 ? undefined : bytes;
    return { cms, encapsulated: encapsulatedContent, list, ...readList(list) };
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code === 'file-malformed') throw thrown;
    throw malformed(thrown.message, thrown);
  }
}

export function findListed(
  members: readonly CatalogMember[],
  { name, digests }: ListedFile,
): 'listed' | 'changed' | 'not-listed' {
  const values = [...digests.values()].map((digest) => Buffer.from(digest).toString('hex'));
  if (members.some(({ tag, digest }) => values.includes(Buffer.from(digest?.value ?? tag).toString('hex'))))
    return 'listed';
  const names = members.flatMap(({ attributes }) => attributes).filter((attribute) => attribute.name === 'File');
  return names.some(({ value }) => value.toLowerCase() === name.toLowerCase()) ? 'changed' : 'not-listed';
}

function readList(list: Element) {
  const fields = fieldsOf(list, 0x30, 'list');
  const usage = objectIdentifierOf(onlyPart(fields.next(0x30, 'usage'), 'usage'), 'usage');
  if (usage !== CATALOG_LIST) throw malformed(`it is a list for the usage ${usage}`);
  const identifier = octetsOf(fields.any('identifier'), 'identifier');
  fields.optional(0x02); // sequence number
  const time = readTime(fields.any('time'), 'time');
  const kind = algorithmOf(fields.next(0x30, 'kind of members'), 'kind of members');
  if (kind !== CATALOG_MEMBER && kind !== CATALOG_MEMBER_V2)
    throw malformed(`its members have the unknown kind ${kind}`);
  const members = fields.optional(0x30);
  const extensions = fields.optional(0xa0);
  fields.end();
  return {
    version: kind === CATALOG_MEMBER ? (1 as const) : (2 as const),
    identifier,
    time,
    members: members === undefined ? [] : parts(members, 'members').map(readMember),
    attributes: extensions === undefined ? [] : readExtensions(onlyPart(extensions, 'extensions')),
  };
}

function readMember(member: Element): CatalogMember {
  const fields = fieldsOf(member, 0x30, 'member');
  const tag = octetsOf(fields.any('tag'), 'tag');
  const set = fields.optional(0x31);
  fields.end();
  let digest: CatalogMember['digest'];
  const attributes: NameValue[] = [];
  for (const attribute of set === undefined ? [] : parts(set, 'attributes of a member')) {
    const { type, values } = readAttributeFields(attribute);
    if (type === CATALOG_NAME_VALUE) attributes.push(readNameValue(onlyPart(values, 'name and value')));
    if (type !== SPC_INDIRECT_DATA) continue;
    if (digest !== undefined) throw malformed('a member has two digests');
    const { contentDigestOid, contentDigest } = readIndirectData(onlyPart(values, 'digest'));
    digest = { algorithm: contentDigestOid, value: contentDigest };
  }
  return { tag, digest, attributes };
}

function readExtensions(extensions: Element): readonly NameValue[] {
  return parts(extensions, 'extensions').flatMap((extension) => {
    const fields = fieldsOf(extension, 0x30, 'extension');
    const type = objectIdentifierOf(fields.next(0x06, 'type'), 'extension');
    fields.optional(0x01);
    const value = octetsOf(fields.any('value'), 'extension');
    return type === CATALOG_NAME_VALUE ? [readNameValue(readElement(value, 'extension'))] : [];
  });
}

/** CatalogNameValue: a BMPString, flags, and an OCTET STRING that contains UTF-16LE with a final NUL. */
function readNameValue(element: Element): NameValue {
  const fields = fieldsOf(element, 0x30, 'name and value');
  const name = Buffer.from(fields.next(0x1e, 'name').contents);
  if (name.length % 2 !== 0) throw malformed('the name of an attribute is not text');
  fields.next(0x02, 'flags');
  const value = Buffer.from(octetsOf(fields.any('value'), 'value'));
  return { name: name.swap16().toString('utf16le'), value: value.toString('utf16le').replace(/\0$/, '') };
}

function malformed(problem: string, cause?: unknown) {
  return bytesErrors('file-malformed', { what: 'the security catalog', problem }, { cause });
}
