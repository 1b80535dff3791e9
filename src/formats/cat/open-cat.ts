import { algorithmName } from '../../asn1/algorithm-identifiers.ts';
import { CERTIFICATE_TRUST_LIST } from '../../asn1/object-identifiers.ts';
import { secondOf } from '../../asn1/times.ts';
import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { Container } from '../../authenticode/container.ts';
import { LONGEST_CMS, readStoredCms } from '../../authenticode/stored-cms.ts';
import { type ByteSource, isSameBytes, memorySource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { measureContent } from '../../crypto/measure-content.ts';
import { attempt, CodesignError } from '../../errors/codesign-error.ts';
import { plural } from '../../errors/plural.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import type { Detail } from '../../format/signature.ts';
import { unsignedCatalog } from './create.ts';
import { catWarnings } from './errors.ts';
import { type Catalog, type CatalogMember, findListed, readCatalog } from './list.ts';

export async function openCat(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const { size } = source;
  const { cms, rest } = await readStoredCms(source, { start: 0, end: size });
  if (cms === undefined) throw bytesErrors('file-too-large', { size, kind: 'catalogs', limit: LONGEST_CMS });
  if (rest.length > 0) {
    throw formatErrors('trailing-bytes', { length: rest.length, what: 'the security catalog', end: cms.length });
  }
  const catalog = readCatalog(cms);
  const file = authenticodeFile(signedList(catalog, source), reader.budget);
  return {
    ...file,
    attaching: {
      async place(envelope) {
        checkSameList(envelope.bytes, catalog);
        return await file.attaching.place(envelope);
      },
    },
    layout: () => describeCatalog(catalog),
    catalog: { state: (listed) => findListed(catalog.members, listed) },
  };
}

/** An attached signature contains its own list, which replaces the list in the file. */
function checkSameList(cms: Uint8Array, { list }: Catalog): void {
  const other = attempt(() => readCatalog(cms));
  if (other instanceof CodesignError || !isSameBytes(other.list.bytes, list.bytes)) {
    throw formatErrors('not-its-signature', { reason: 'it signs another list' });
  }
}

function signedList(catalog: Catalog, source: ByteSource): Container {
  const { cms, list, encapsulated } = catalog;
  const replaceBy = (bytes: Uint8Array): Patch => [{ offset: 0, remove: source.size, insert: [bytes] }];
  return {
    source,
    warnings: catalog.version === 2 ? [] : [catWarnings('listed-by-sha1')],
    kind: { contentType: CERTIFICATE_TRUST_LIST, dataType: CERTIFICATE_TRUST_LIST },
    reasonForOneSignature: 'a security catalog can have only one signature',
    entries: cms === undefined ? [] : [{ location: 'catalog', cms }],
    // The list in memory stays the same if another program changes the file.
    measure: (_content, algorithms) => measureContent(memorySource(list.contents), [list.contents], algorithms),
    content: async () => ({ type: CERTIFICATE_TRUST_LIST, value: list.bytes }),
    write: replaceBy,
    removeAll: async () => (cms === undefined ? undefined : replaceBy(unsignedCatalog(encapsulated.bytes))),
  };
}

const MOST_SHOWN = 100;
const LONGEST_TEXT = 1000;

function describeCatalog({ version, members, identifier, time, attributes, list }: Catalog): readonly Detail[] {
  return [
    { name: 'catalog', value: `version ${version}, ${plural(members.length, 'member')}` },
    { name: 'list', value: plural(list.bytes.length, 'byte') },
    { name: 'list identifier', value: Buffer.from(identifier.subarray(0, LONGEST_TEXT)).toString('hex') || 'empty' },
    { name: 'created', value: secondOf(time) },
    ...bounded(attributes, 'attribute', ({ name, value }) => `${name}: ${value}`),
    ...bounded(members, 'member', describeMember),
  ];
}

function bounded<Item>(items: readonly Item[], name: string, describe: (item: Item) => string): readonly Detail[] {
  const shown = items.slice(0, MOST_SHOWN).map((item) => ({ name, value: describe(item).slice(0, LONGEST_TEXT) }));
  const more = items.length - shown.length;
  return more === 0 ? shown : [...shown, { name: `${name}s`, value: `${more} more` }];
}

const DIGEST_BY_LENGTH: Readonly<Record<number, string>> = { 20: 'SHA-1', 32: 'SHA-256' };

function describeMember({ tag, digest, attributes }: CatalogMember): string {
  const hex = Buffer.from(digest?.value ?? tag).toString('hex');
  const algorithm = digest === undefined ? undefined : (algorithmName(digest.algorithm) ?? digest.algorithm);
  const file = attributes.find(({ name }) => name === 'File')?.value;
  return [algorithm ?? DIGEST_BY_LENGTH[tag.length] ?? 'tag', hex, ...(file === undefined ? [] : [file])].join(' ');
}
