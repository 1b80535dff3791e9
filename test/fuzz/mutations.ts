/** Changes by chance: of bytes, wherever they stand, and of the parts of an ASN.1 structure, whose lengths then are right again. */

import { parts, readElement } from '../../src/asn1/read.ts';
import { encode } from '../../src/asn1/write.ts';

/** A number from 0 (inclusive) to `below`. */
export type Random = (below: number) => number;

/** `start` and `end` of the bytes that are changed. */
export function mutateBytes(original: Uint8Array, start: number, end: number, random: Random): Buffer {
  const at = start + random(Math.max(1, end - start));
  const before = original.subarray(0, at);
  const after = original.subarray(at);
  const length = 1 + random(random(4) === 0 ? 300 : 8);
  switch (random(8)) {
    case 0:
      return Buffer.concat([before, Buffer.from(Array.from({ length }, () => random(256))), after]);
    case 1:
      return Buffer.concat([before, after.subarray(length)]);
    case 2:
      return Buffer.concat([before, after.subarray(0, length), after]);
    case 3: {
      // From elsewhere in the file, over what is there.
      const from = random(original.length);
      const copied = original.subarray(from, from + length);
      return Buffer.concat([before, copied, after.subarray(copied.length)]);
    }
    default: {
      const changed = Buffer.from(original);
      changed[at] = random(2) === 0 ? (changed[at] ?? 0) ^ (1 << random(8)) : random(256);
      return changed;
    }
  }
}

interface Node {
  readonly tag: number;
  readonly contents: Uint8Array | readonly Node[];
}

/** One part of the structure changed, doubled, taken out, moved or put in another's place. */
export function mutateStructure(der: Uint8Array, random: Random): Uint8Array {
  const root = nodeOf(der);
  const all = flatten(root);
  const pick = (): Node => all[random(all.length)] ?? root;
  const target = pick();
  const replacement = changeOf(target, pick(), random);
  const encoded = encodeNode(root, target, replacement);
  return encoded.length === 0 ? der : encoded;
}

/** What stands in the place of a node. */
function changeOf(node: Node, other: Node, random: Random): readonly Node[] {
  const { tag, contents } = node;
  switch (random(7)) {
    case 0:
      return [];
    case 1:
      return [node, node];
    case 2:
      return [other];
    case 3:
      return random(2) === 0 ? [node, other] : [other, node];
    case 4:
      return [{ tag: random(3) === 0 ? random(256) : tag ^ (1 << random(8)), contents }];
    case 5:
      return Array.isArray(contents)
        ? [{ tag, contents: contents.toReversed() }]
        : [{ tag, contents: new Uint8Array() }];
    default:
      if (!(contents instanceof Uint8Array)) return [...contents];
      return [{ tag, contents: mutateBytes(contents, 0, contents.length, random) }];
  }
}

function nodeOf(der: Uint8Array): Node {
  const element = readElement(der, 'node');
  const { tag, contents } = element;
  if ((tag & 0x20) === 0) return { tag, contents };
  return { tag, contents: parts(element, 'node').map(({ bytes }) => nodeOf(bytes)) };
}

function flatten(node: Node): Node[] {
  return [node, ...(node.contents instanceof Uint8Array ? [] : node.contents.flatMap(flatten))];
}

function encodeNode(node: Node, target: Node, replacement: readonly Node[]): Uint8Array {
  if (node === target) return Buffer.concat(replacement.map(encodeWhole));
  if (node.contents instanceof Uint8Array) return encode(node.tag, node.contents);
  return encode(node.tag, ...node.contents.map((part) => encodeNode(part, target, replacement)));
}

function encodeWhole({ tag, contents }: Node): Uint8Array {
  return contents instanceof Uint8Array ? encode(tag, contents) : encode(tag, ...contents.map(encodeWhole));
}
