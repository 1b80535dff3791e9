import { algorithmName } from '../../asn1/algorithm-identifiers.ts';
import { secondOf } from '../../asn1/times.ts';
import { plural } from '../../errors/plural.ts';
import type { Detail } from '../../format/signature.ts';
import type { Catalog, CatalogMember } from './list.ts';

/** Catalogs of drivers have a few members, those of Windows thousands. */
const MOST_SHOWN = 100;
const LONGEST_TEXT = 1000;

export function describeCatalog({ version, members, identifier, time, attributes, list }: Catalog): readonly Detail[] {
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
