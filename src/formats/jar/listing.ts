import type { SignatureFiles } from './layout.ts';

/** Represents a list that may have a hundred thousand names. */
export interface Listing {
  readonly count: number;
  readonly first: string;
}

export function listingOf<Item extends { readonly name: string }>(
  items: Iterable<Item>,
  isListed: (item: Item) => boolean = () => true,
): Listing {
  let [count, first] = [0, ''];
  for (const item of items) {
    if (!isListed(item)) continue;
    if (count === 0) first = item.name;
    count++;
  }
  return { count, first };
}

export function inWords({ count, first }: Listing): string {
  return count > 1 ? `${first} and ${count - 1} more` : first;
}

export function describeHalves(signatureFiles: ReadonlyMap<string, SignatureFiles>) {
  const all = [...signatureFiles.values()];
  const withoutBlock = listingOf(
    all.flatMap(({ signatureFile, blocks }) => (blocks.length > 0 ? [] : (signatureFile ?? []))),
  );
  const withoutFile = listingOf(
    all.flatMap(({ signatureFile, blocks }) => (signatureFile === undefined ? blocks : [])),
  );
  const halves = [
    { code: 'signature-block-missing', missing: 'signature block', listing: withoutBlock },
    { code: 'signature-file-missing', missing: 'signature file', listing: withoutFile },
  ];
  return halves
    .filter(({ listing }) => listing.count > 0)
    .map(({ listing, ...half }) => ({ ...half, entries: inWords(listing) }));
}
