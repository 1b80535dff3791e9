/** Reads AppxBlockMap.xml, which lists the size of each file, and a digest of each block of 64 KiB. */

import { hash } from 'node:crypto';
import { inflateRawSync, constants as zlib } from 'node:zlib';
import { type ByteSource, slidingWindow } from '../../bytes/byte-source.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { STORED } from '../../zip/fields.ts';
import { PLAIN_BLOCK_HEADER_LENGTH } from '../../zip/write-records.ts';
import { PARTS } from './part-names.ts';
import { attributeOf, decodeXml, malformed, numberIn, readXml, withAttributes } from './xml.ts';

const PART = PARTS.blockMap;
const HASH_METHODS: ReadonlyMap<string, DigestAlgorithm> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'SHA256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'SHA384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'SHA512'],
]);
const BLOCK_LENGTH = 64 * 1024;
/** Length of the empty deflate block that makeappx writes at the end. */
const END_LENGTH = 2;
const LONGEST_PACKED = BLOCK_LENGTH + 1024;

export interface BlockMap {
  readonly algorithm: DigestAlgorithm;
  readonly files: readonly MappedFile[];
}

interface MappedFile {
  readonly name: string;
  readonly size: number;
  readonly headerLength: number;
  readonly blocks: Blocks;
}

/** Two arrays take less memory than objects: 65,000 blocks as objects would take 30 MB more. */
interface Blocks {
  readonly hashes: string[];
  readonly sizes: number[];
}

const NO_SIZE = -1;

export function readBlockMap(bytes: Uint8Array): BlockMap {
  const files: MappedFile[] = [];
  let algorithm: DigestAlgorithm | undefined;
  readXml(PART, decodeXml(PART, bytes), (element) => {
    const { name, depth, isOwn, attributes } = element;
    if (depth === 1) {
      const method = attributeOf(element, 'HashMethod');
      algorithm = HASH_METHODS.get(method);
      if (algorithm === undefined) throw malformed(PART, `its HashMethod is ${method}`);
    }
    if (isOwn && depth === 2 && name === 'File') {
      files.push({
        name: attributeOf(element, 'Name'),
        size: numberIn(element, 'Size'),
        headerLength: numberIn(element, 'LfhSize'),
        blocks: { hashes: [], sizes: [] },
      });
    }
    const blocks = files.at(-1)?.blocks;
    if (isOwn && depth === 3 && name === 'Block' && blocks !== undefined) {
      blocks.hashes.push(attributeOf(element, 'Hash'));
      blocks.sizes.push(attributes.has('Size') ? numberIn(element, 'Size') : NO_SIZE);
    }
  });
  if (algorithm === undefined) throw malformed(PART, 'it has no HashMethod');
  return { algorithm, files };
}

interface MappedEntry {
  readonly entry: ZipEntry;
  readonly file: MappedFile;
}

/** Returns clauses about wrong sizes, and about files that are missing in the block map or in the package. */
export function compareSizes({ files }: BlockMap, entries: readonly ZipEntry[]): readonly string[] {
  const { mapped, unmapped, misnamed } = pairUp(files, entries);
  const found = new Set(mapped.map(({ file }) => file));
  return [
    ...misnamed.map(({ name }) => `${name} is not a valid file name in a package`),
    ...unmapped.map(({ name }) => `it does not list ${name}`),
    ...files.filter((file) => !found.has(file)).map(({ name }) => `it lists ${name}, which is not in the package`),
    ...mapped.flatMap(sizeProblem),
  ];
}

function pairUp(files: readonly MappedFile[], entries: readonly ZipEntry[]) {
  const byName = new Map(files.map((file) => [file.name.toLowerCase(), file]));
  const mapped: MappedEntry[] = [];
  const unmapped: ZipEntry[] = [];
  const misnamed: ZipEntry[] = [];
  for (const entry of entries) {
    if (isUnmapped(entry.name)) continue;
    const file = byName.get(mappedName(entry.name).toLowerCase());
    if (file !== undefined) mapped.push({ entry, file });
    if (!PART_NAME.test(entry.name)) misnamed.push(entry);
    else if (file === undefined) unmapped.push(entry);
  }
  return { mapped, unmapped, misnamed };
}

/** Matches the file names that Microsoft's SDK finds: other characters must be percent-encoded (ECMA-376-2, 6.2.2.2). */
const PART_NAME = /^(?:[\w.~!$&'()*+,;=:@/-]|%[\da-f]{2})*[^/]$/i;

function isUnmapped(name: string): boolean {
  const { blockMap, contentTypes, signature, codeIntegrity } = PARTS;
  return [blockMap, contentTypes, signature, codeIntegrity].some((part) => part === name);
}

export function mappedName(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll('/', '\\');
  } catch {
    return name.replaceAll('/', '\\');
  }
}

function sizeProblem({ entry, file }: MappedEntry): string[] {
  const { name, size, headerLength } = file;
  const { sizes } = file.blocks;
  const header = entry.dataOffset - entry.offset;
  if (size !== entry.size) return [`${name} has ${entry.size} bytes instead of ${size}`];
  if (headerLength !== header) return [`the local header of ${name} has ${header} bytes instead of ${headerLength}`];
  const count = Math.ceil(size / BLOCK_LENGTH);
  if (sizes.length !== count) return [`${name} has ${count} blocks instead of ${sizes.length}`];
  if (entry.method === STORED) return [];
  if (sizes.includes(NO_SIZE)) return [`the compressed blocks of ${name} have no sizes`];
  const packed = sizes.reduce((sum, each) => sum + each, 0);
  if (packed === entry.compressedSize || packed + END_LENGTH === entry.compressedSize) return [];
  return [`the compressed blocks of ${name} have ${entry.compressedSize} bytes instead of ${packed}`];
}

/** Returns clauses about files with wrong digests. Skips files with wrong sizes. */
export async function compareDigests(
  source: ByteSource,
  blockMap: Uint8Array,
  entries: readonly ZipEntry[],
): Promise<readonly string[]> {
  const { files, algorithm } = readBlockMap(blockMap);
  const problems: string[] = [];
  const window = slidingWindow(source, source.size);
  for (const { entry, file } of pairUp(files, entries).mapped) {
    if (sizeProblem({ entry, file }).length > 0) continue;
    const wrong = await findWrongBlock(window, entry, file, algorithm);
    if (wrong !== undefined) problems.push(`block ${wrong + 1} of ${file.name} differs`);
  }
  return problems;
}

/** Inflates each block separately, as Windows does while it downloads a package. */
async function findWrongBlock(
  { view, load }: ReturnType<typeof slidingWindow>,
  { method, dataOffset, compressedSize }: ZipEntry,
  { size, blocks }: MappedFile,
  algorithm: DigestAlgorithm,
): Promise<number | undefined> {
  const { hashes, sizes } = blocks;
  const end = dataOffset + compressedSize;
  let offset = dataOffset;
  for (const [index, packedSize] of sizes.entries()) {
    const length = Math.min(BLOCK_LENGTH, size - index * BLOCK_LENGTH);
    const packed = method === STORED ? length : packedSize;
    if (packed > LONGEST_PACKED || offset + packed > end) return index;
    const data = view(offset, packed) ?? (await load(offset, packed));
    const contents = method === STORED ? data : inflateBlock(data);
    if (contents?.length !== length) return index;
    if (hash(NODE_DIGEST_NAME[algorithm], contents, 'base64') !== hashes[index]) return index;
    offset += packed;
  }
  return undefined;
}

function inflateBlock(data: Uint8Array): Buffer | undefined {
  try {
    return inflateRawSync(data, { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength: BLOCK_LENGTH });
  } catch {
    return undefined;
  }
}

/** Length of a deflate block, chosen so that each block in the block map consists of whole deflate blocks. */
export const PLAIN_BLOCK_LENGTH = BLOCK_LENGTH / 2;

/** Replaces the File element with this name. The file is stored in deflate blocks of `PLAIN_BLOCK_LENGTH`. */
export function withFile(bytes: Uint8Array, name: string, contents: Uint8Array, headerLength: number): Uint8Array {
  const text = Buffer.from(bytes).toString();
  const { algorithm } = readBlockMap(bytes);
  let changed = text;
  const ignore = () => undefined;
  readXml(PART, text, ignore, ({ isOwn, depth, name: element, prefix, attributes, tagStart, tagEnd }, end) => {
    const isFile = isOwn && depth === 2 && element === 'File';
    if (!isFile || attributes.get('Name')?.toLowerCase() !== name.toLowerCase()) return;
    const tag = text.slice(tagStart, tagEnd).replace(/\s*\/?>$/, '');
    const start = withAttributes(tag, { Size: contents.length, LfhSize: headerLength });
    const blocks = plainBlocks(contents, algorithm, prefix);
    changed = `${text.slice(0, tagStart)}${start}>${blocks}</${prefix}File>${text.slice(end)}`;
  });
  return Buffer.from(changed);
}

function plainBlocks(contents: Uint8Array, algorithm: DigestAlgorithm, prefix: string): string {
  const blocks: string[] = [];
  for (let start = 0; start < contents.length; start += BLOCK_LENGTH) {
    const block = contents.subarray(start, start + BLOCK_LENGTH);
    const digest = hash(NODE_DIGEST_NAME[algorithm], block, 'base64');
    const size = block.length + Math.ceil(block.length / PLAIN_BLOCK_LENGTH) * PLAIN_BLOCK_HEADER_LENGTH;
    blocks.push(`<${prefix}Block Hash="${digest}" Size="${size}"/>`);
  }
  return blocks.join('');
}
