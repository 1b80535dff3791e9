/** NuGet packages that can be signed, and those that must be rejected, each with the reason. */

import { flipped } from '../../../support/flipped.ts';
import { type SimpleEntry, zip } from '../jar/simple-zip.ts';
import type { Fixture } from '../support/fixtures.ts';

/** Names are ASCII without the UTF-8 flag, as NuGet writes them. */
const withoutFlags = (entry: SimpleEntry) => ({ flags: 0, ...entry });
const ENTRIES = [
  { name: '_rels/.rels', contents: '<Relationships/>' },
  { name: 'Hello.nuspec', contents: '<package><metadata><id>Hello</id></metadata></package>' },
  { name: '[Content_Types].xml', contents: '<Types/>' },
  { name: 'lib/net8.0/Hello.dll', contents: 'Hello from a package.\n'.repeat(9) },
  { name: 'icon.png', contents: Buffer.alloc(333, 7), isStored: true },
].map(withoutFlags);

/** A package with these entries behind those that all have. */
export const makePackage = (...more: readonly SimpleEntry[]) => zip([...ENTRIES, ...more.map(withoutFlags)]);

const ZIP64_FIELD = Buffer.from('010008000000000000000000', 'hex');
const SIGNATURE: SimpleEntry = { name: '.signature.p7s', contents: 'x', isStored: true };
const plain = makePackage();

const sample = (name: string, what: string, bytes: Buffer, code?: string): Fixture => ({
  ...{ name, what, bytes },
  ...(code !== undefined && { code }),
});

export const GOOD_NUGET: readonly Fixture[] = [
  sample('plain.nupkg', 'a plain package', plain),
  sample('comment.snupkg', 'symbols, with a comment of the archive', zip(ENTRIES, { comment: 'a comment' })),
  sample('upper.nupkg', 'a signature in upper case is none', makePackage({ ...SIGNATURE, name: '.SIGNATURE.P7S' })),
];

const PRECEDED = Buffer.concat([Buffer.from('before'), plain]);
const WITH_ZIP64 = zip(ENTRIES, { zip64: true });

export const MALFORMED_NUGET: readonly Fixture[] = [
  sample('zip64.nupkg', 'a ZIP64 end record', WITH_ZIP64, 'nuget-zip64'),
  sample('zip64-field.nupkg', 'a ZIP64 extra field', makePackage({ name: 'a', extra: ZIP64_FIELD }), 'nuget-zip64'),
  sample('two-signatures.nupkg', 'two signatures', makePackage(SIGNATURE, SIGNATURE), 'zip-ambiguous'),
  sample('preamble.nupkg', 'bytes before the archive that offsets do not count', PRECEDED, 'zip-unsupported'),
];

/** A payload byte, a flag in a local header, and the name of an entry's maker in the directory. */
export async function changedNuget(result: Buffer): Promise<readonly Buffer[]> {
  const directory = result.readUInt32LE(result.lastIndexOf('PK\x05\x06', -22, 'latin1') + 16);
  return [31 + '_rels/.rels'.length, 10, directory + 12].map((offset) => flipped(result, offset));
}
