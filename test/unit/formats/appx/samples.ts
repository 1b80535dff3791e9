/** Packages and bundles that can be signed, and those that must be rejected, each with the reason. */

import { hash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { appx } from '../../../../src/formats/appx/index.ts';
import { flipped } from '../../../support/flipped.ts';
import { makeThrowawaySigner } from '../../../support/signed-files/throwaway-signer.ts';
import { type SimpleEntry, zip } from '../jar/simple-zip.ts';
import { type Fixture, malformed } from '../support/fixtures.ts';
import { signBytes } from '../support/sign-bytes.ts';

export const PUBLISHER = 'CN=Test Publisher';
const METHODS = { sha256: 'xmlenc#sha256', sha384: 'xmldsig-more#sha384', sha512: 'xmlenc#sha512' } as const;
const BLOCK_LENGTH = 65536;
export const OVERRIDE = '<Override PartName="/AppxSignature.p7x" ContentType="application/vnd.ms-appx.signature"/>';

export interface PackageShape {
  readonly method?: keyof typeof METHODS;
  readonly publisher?: string;
  readonly files?: readonly SimpleEntry[];
  readonly manifest?: string;
  readonly contentTypes?: string;
  readonly blockMap?: (text: string) => string | Buffer;
  /** Entries behind all others. */
  readonly more?: readonly SimpleEntry[];
  readonly without?: string;
  readonly around?: Parameters<typeof zip>[1];
}

const FILES: readonly SimpleEntry[] = [
  { name: 'hello.txt', contents: 'Hello from a package.\n'.repeat(9) },
  { name: 'sub%20folder/picture.png', contents: 'a picture', isStored: true },
  { name: 'empty.txt', contents: '' },
];

export function contentTypes(extra = '', prefix = ''): string {
  const types = `xmlns${prefix === '' ? '' : `:${prefix.slice(0, -1)}`}="http://schemas.openxmlformats.org/package/2006/content-types"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\r\n<${prefix}Types ${types}><${prefix}Default Extension="txt" ContentType="text/plain"/>${extra}</${prefix}Types>`;
}

export function packageManifest(publisher = PUBLISHER): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<Package xmlns="http://schemas.microsoft.com/appx/manifest/foundation/windows10"><Identity Name="Test.App" Publisher="${publisher}" Version="1.2.3.0"/></Package>`;
}

function blockMapOf(entries: readonly SimpleEntry[], method: keyof typeof METHODS): string {
  const files = entries.map(({ name, contents = '', isStored = false }) => {
    const bytes = Buffer.from(contents);
    const blocks: string[] = [];
    for (let start = 0; start < bytes.length; start += BLOCK_LENGTH) {
      const digest = hash(method, bytes.subarray(start, start + BLOCK_LENGTH), 'base64');
      blocks.push(`<Block Hash="${digest}"${isStored ? '' : ` Size="${deflateRawSync(bytes).length}"`}/>`);
    }
    const mapped = decodeURIComponent(name).replaceAll('/', '\\');
    return `<File Name="${mapped}" Size="${bytes.length}" LfhSize="${30 + name.length}">${blocks.join('')}</File>`;
  });
  const address = `http://www.w3.org/2001/04/${METHODS[method]}`;
  return `<BlockMap xmlns="http://schemas.microsoft.com/appx/2010/blockmap" HashMethod="${address}">${files.join('')}</BlockMap>`;
}

export function makePackage({
  method = 'sha256',
  publisher,
  files = FILES,
  manifest = packageManifest(publisher),
  contentTypes: types = contentTypes(),
  blockMap = (text) => text,
  more = [],
  without,
  around,
}: PackageShape = {}): Buffer {
  const mapped = [...files, { name: 'AppxManifest.xml', contents: manifest }];
  return zip(
    [
      ...mapped,
      { name: 'AppxBlockMap.xml', contents: blockMap(blockMapOf(mapped, method)) },
      { name: '[Content_Types].xml', contents: types },
      ...more,
    ].filter(({ name }) => name !== without),
    around,
  );
}

interface BundleShape {
  readonly fileName?: string;
  /** As the manifest says; none in a flat bundle, which does not hold the package. */
  readonly offset?: number | undefined;
  readonly typesFirst?: boolean;
  readonly publisher?: string;
  /** Packages after the first one. */
  readonly more?: readonly { readonly name: string; readonly bytes: Buffer }[];
  readonly isCompressed?: boolean;
  readonly method?: keyof typeof METHODS;
  readonly manifest?: (text: string) => string;
  /** Also of the manifest. */
  readonly isStored?: boolean;
  readonly blockMap?: (text: string) => string;
  readonly around?: PackageShape['around'];
}

/** `inner`: the package in it, `app.msix`. */
export function makeBundle(inner: Buffer, shape: BundleShape = {}): Buffer {
  const {
    fileName = 'app.msix',
    offset = 30 + fileName.length,
    typesFirst = false,
    publisher = PUBLISHER,
    more = [],
    isCompressed = false,
    method = 'sha256',
    manifest: changed = (text) => text,
    isStored = false,
    blockMap = (text) => text,
    around,
  } = shape;
  const isFlat = 'offset' in shape && shape.offset === undefined;
  const place = isFlat ? '' : `Offset="${offset}" Size="${inner.length}"`;
  const packages = [`<Package Type="application" FileName="${fileName}" ${place}/>`];
  let end = 30 + 'app.msix'.length + inner.length;
  for (const { name, bytes } of more) {
    packages.push(
      `<Package FileName='${name}' Size='${bytes.length}'  Offset = '${end + 30 + name.length}'></Package>`,
    );
    end += 30 + name.length + bytes.length;
  }
  const manifest = {
    name: 'AppxMetadata/AppxBundleManifest.xml',
    isStored,
    contents: changed(
      `<Bundle xmlns="http://schemas.microsoft.com/appx/2013/bundle"><Identity Name="Test.App" Publisher="${publisher}" Version="1.2.3.0"/><Packages>${packages.join('')}</Packages></Bundle>`,
    ),
  };
  const types = { name: '[Content_Types].xml', contents: contentTypes() };
  const entries = [
    ...(typesFirst ? [types] : []),
    ...(isFlat ? [] : [{ name: 'app.msix', contents: inner, isStored: !isCompressed }]),
    ...more.map(({ name, bytes }) => ({ name, contents: bytes, isStored: true })),
    manifest,
    { name: 'AppxBlockMap.xml', contents: blockMap(blockMapOf([manifest], method)) },
    ...(typesFirst ? [] : [types]),
  ];
  return zip(entries, around);
}

/** Has the manifest of a bundle name its first package so often, each time with this at the end of its name. */
export const naming = (count: number, endOf: (index: number) => string) => (manifest: string) =>
  manifest.replace(/<Package T.*?\/>/, (one) =>
    Array.from({ length: count }, (_, index) => one.replace('.msix', `.msix${endOf(index)}`)).join(''),
  );

/** As makeappx ends its archives: with ZIP64 records, to which the end record leaves everything, the disks too. */
export const ZIP64 = { zip64: true, end: { disk: 0xffff, directoryDisk: 0xffff } };

const P7X: SimpleEntry = { name: 'AppxSignature.p7x', contents: 'PKCX' };
export const INNER = (await signBytes(appx, makePackage(), await makeThrowawaySigner())).result;

const good = (name: string, what: string, bytes: Buffer): Fixture => ({
  ...{ name, what, bytes },
  appendCode: 'cannot-append',
});
const prefixed: PackageShape = {
  ...{ contentTypes: `\ufeff${contentTypes('', 'ct:')}`, method: 'sha512' },
  around: { ...ZIP64, gap: 'gap' },
};
const CATALOG = { name: 'AppxMetadata/CodeIntegrity.cat', contents: 'a catalog' };

export const GOOD_PACKAGES: readonly Fixture[] = [
  good('plain.msix', 'a package without ZIP64 records', makePackage()),
  good('zip64.appx', 'ZIP64 records, a byte order mark, a prefix, and a gap', makePackage(prefixed)),
  good('catalog.msix', 'a catalog after the content types', makePackage({ more: [CATALOG] })),
  good('app.msixbundle', 'a bundle of a signed package', makeBundle(INNER, { around: ZIP64 })),
];

/** To be signed with its packages. */
export const UNSIGNED_BUNDLE: Fixture = {
  name: 'unsigned.msixbundle',
  what: 'a bundle of two unsigned packages and a signed one',
  bytes: makeBundle(makePackage(), {
    more: [
      { name: 'zip64.appx', bytes: makePackage({ method: 'sha512', around: ZIP64 }) },
      { name: 'signed.msix', bytes: INNER },
    ],
  }),
};

/** The name of the file → the defect, and the package. */
const allOf = (code: string, files: Readonly<Record<string, readonly [what: string, made: PackageShape | Buffer]>>) =>
  Object.entries(files).map(([name, [what, made]]) =>
    malformed(code, name, what, Buffer.isBuffer(made) ? made : makePackage(made)),
  );
const OF_ANOTHER_TYPE = contentTypes('<Override PartName="/appxsignature.p7x" ContentType="text/plain"/>');
const mapped = (from: string | RegExp, to: string) => ({ blockMap: (text: string) => text.replace(from, to) });
const ANSI = (text: string) => Buffer.from(text.replace('HashMethod', 'x="\u00fc" HashMethod'), 'latin1');
const DOCUMENT_TYPE = `<!DOCTYPE Package [<!ENTITY a "b">]>${packageManifest().replace(/<\?.*?\?>\s*/, '')}`;

export const MALFORMED_PACKAGES: readonly Fixture[] = [
  ...allOf('appx-malformed', {
    'no-map.msix': ['no block map', { without: 'AppxBlockMap.xml' }],
    'no-types.msix': ['no content types', { without: '[Content_Types].xml' }],
    'no-manifest.msix': ['no manifest', { without: 'AppxManifest.xml' }],
    'comment.msix': ['a comment of the archive', { around: { comment: 'comment' } }],
    'before.msix': ['bytes before it', { around: { preamble: 'MZ' } }],
    'behind.msix': ['bytes behind it', Buffer.concat([makePackage(), Buffer.alloc(3)])],
    'type.msix': ['a signature of another type', { contentTypes: OF_ANOTHER_TYPE }],
    'large.msix': ['content types of more than 2 MiB', { contentTypes: contentTypes(' '.repeat(2 * 1024 * 1024)) }],
    'manifest-0.msix': ['not XML', { manifest: 'Hello' }],
    'manifest-1.msix': ['another root', { manifest: '<Other/>' }],
    'manifest-2.msix': ['no identity', { manifest: '<Package/>' }],
    'manifest-3.msix': ['two identities', { manifest: packageManifest().replace(/<Identity.*?\/>/, '$&$&') }],
    'manifest-4.msix': ['no publisher', { manifest: packageManifest().replace(/Publisher="[^"]*"/, '') }],
    'manifest-5.msix': ['a document type', { manifest: DOCUMENT_TYPE }],
    'manifest-6.msix': ['too deep', { manifest: `${'<a>'.repeat(100)}${'</a>'.repeat(100)}` }],
    'types.msix': ['content types of another root', { contentTypes: '<Other></Other>' }],
    'no-part.msix': ['content types without any', { contentTypes: '<Types/>' }],
    'number.msix': ['a size that is no number', mapped(/ Size="\d+"/, ' Size="many"')],
    'hash.msix': ['a block map with SHA-1', mapped('xmlenc#sha256', 'xmldsig#sha1')],
    'ansi.msix': ['a block map that is not UTF-8', { blockMap: ANSI }],
    'long.msix': ['a publisher of 10,000 characters', { publisher: 'x'.repeat(10_000) }],
    'crowd.msixbundle': ['a bundle that names 4,097 packages', makeBundle(INNER, { manifest: naming(4097, String) })],
    'twice.msixbundle': ['a bundle that names a package twice', makeBundle(INNER, { manifest: naming(2, () => '') })],
  }),
  ...allOf('appx-signature-not-last', {
    'not-last.msix': ['an entry after the signature', { more: [P7X, { name: 'late.txt' }] }],
  }),
  malformed('appx-too-large', 'many.msix', 'too many entries for 16 bits', manyEntries()),
];

/** The records of one entry are repeated, because the builder takes seconds for so many. */
function manyEntries(): Buffer {
  const [localLength, recordLength, more] = [35, 51, 0xfffe - 4];
  const one = makePackage({ files: [{ name: '00000', isStored: true }] });
  const [directory, end] = [one.readUInt32LE(one.length - 6), one.length - 22];
  const locals = Buffer.alloc(more * localLength, one.subarray(0, localLength));
  const records = Buffer.alloc(more * recordLength, one.subarray(directory, directory + recordLength));
  for (let index = 0; index < more; index += 1) {
    const name = `${index + 1}`.padStart(5, '0');
    locals.write(name, index * localLength + 30);
    records.write(name, index * recordLength + 46);
    records.writeUInt32LE(directory + index * localLength, index * recordLength + 42);
  }
  const last = Buffer.from(one.subarray(end));
  for (const field of [8, 10]) last.writeUInt16LE(0xfffe, field);
  last.writeUInt32LE(end - directory + records.length, 12);
  last.writeUInt32LE(directory + locals.length, 16);
  return Buffer.concat([one.subarray(0, directory), locals, one.subarray(directory, end), records, last]);
}

/** The same package with a byte changed: in the first local header, and in the data behind it. */
export const changedPackages = async (result: Buffer) => [10, 60].map((offset) => flipped(result, offset));
