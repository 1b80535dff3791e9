/** ASN.1 in DER, read by this program and by asn1js: two readers that share no code must agree on what there is to read. */

import { type BaseBlock, fromBER } from 'asn1js';
import { type Element, parts, readDer } from '../../../src/asn1/read.ts';
import { answering, require } from '../check-case.ts';
import { mutateDer } from '../mutations/der.ts';
import { pick } from '../mutations/random.ts';
import type { TargetDefinition } from '../target.ts';

interface Difference {
  /** Part of what the reader that rejects says. */
  readonly says: string;
  /** Whether the outline of the other reader holds a value that explains it. */
  readonly holds: (found: string) => boolean;
  readonly word: string;
}

const has = (pattern: RegExp) => (found: string) => pattern.test(found);
const count = (found: string, pattern: RegExp) => found.match(pattern)?.length ?? 0;

/**
 * What asn1js rejects and this program reads. Our reader takes tags and lengths apart and leaves each value to the code that
 * uses it. It keeps no tree, so it needs no limits for one.
 */
const ONLY_OURS: readonly Difference[] = [
  { says: 'Maximum ASN.1 nesting depth', holds: (found) => depthOf(found) >= 100, word: 'deeper than asn1js reads' },
  {
    says: 'Maximum ASN.1 node count',
    holds: (found) => count(found, /[:(]/g) >= 10_000,
    word: 'more parts than asn1js reads',
  },
  {
    says: 'Unused bits for BitString',
    holds: has(/\b3:(0[89a-f]|[1-9a-f])/),
    word: 'an impossible count of unused bits',
  },
  {
    says: 'End of input reached',
    holds: has(/\b(6|13):([0-9a-f]{2})*[89a-f][0-9a-f];/),
    word: 'an identifier cut off',
  },
  { says: 'Wrong input string for conversion', holds: has(/\b2[34]:/), word: 'a time that is no time' },
  { says: 'value length must be a multiple of', holds: has(/\b(28|30):/), word: 'a string with half a character' },
  { says: '[UNIVERSAL 15] is reserved', holds: has(/\b15:/), word: 'a reserved type' },
];
/** What this program rejects and asn1js reads. */
const ONLY_THEIRS: readonly Difference[] = [
  { says: 'a tag number above 30', holds: has(/\b(31|63|95|127|159|191|223|255)[:(]/), word: 'a tag of several bytes' },
  { says: 'an end of contents instead of a value', holds: has(/\b0:/), word: 'an end of contents with nothing to end' },
];
const FORBIDDEN = 'a form that DER forbids';

export const asn1Target: TargetDefinition = {
  share: 6_000,
  async open({ bases }) {
    const files = bases.all(['golden', 'fuzz'], ['.der', '.tsr', '.crl', '.ocsp', '.p7b', '.p12']);
    return {
      make: (random) => mutateDer(pick(random, files), random),
      run: async (input) => {
        const ours = await answering(() => outline(readDer(input, 'input')));
        const theirs = readByAsn1js(input);
        if ('code' in ours) {
          if (theirs.error !== undefined) return 'rejected by both';
          return explained(ONLY_THEIRS, ours.error.message, theirs.outline);
        }
        if (ours.value === undefined) return FORBIDDEN;
        if (theirs.error !== undefined) return explained(ONLY_OURS, theirs.error, ours.value);
        require(ours.value === theirs.outline, 'another structure than that of asn1js');
        return 'read by both';
      },
    };
  },
};

function explained(differences: readonly Difference[], said: string, found: string): string {
  const known = differences.find(({ says, holds }) => said.includes(says) && holds(found));
  require(known !== undefined, `a difference to asn1js that is not listed: ${said.replaceAll(/[0-9]+/g, 'N')}`);
  return known.word;
}

/**
 * Tags, and the contents of primitives, of an element and all in it. Without recursion: our reader does not bound depth.
 * Undefined if a value has a form that DER forbids, a string in pieces or a SEQUENCE without parts: our reader leaves those to
 * its callers, who expect a tag, and asn1js goes by the type alone.
 */
function outline(root: Element): string | undefined {
  const found: string[] = [];
  const open: (Element | string)[] = [root];
  let isForbidden = false;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') found.push(next);
    else if (hasForbiddenForm(next.tag)) isForbidden = true;
    else if ((next.tag & 0x20) === 0) found.push(leaf(next.tag, next.contents));
    else {
      found.push(`${next.tag}(`);
      open.push(')', ...parts(next, 'part').reverse());
    }
  }
  return isForbidden ? undefined : found.join('');
}

/** Of the universal types, exactly SEQUENCE and SET are constructed in DER (X.690, 8.9.1, 8.11.1 and 10.2). */
function hasForbiddenForm(tag: number): boolean {
  const isConstructedType = (tag & 0x1f) === 0x10 || (tag & 0x1f) === 0x11;
  return tag < 0x40 && ((tag & 0x20) !== 0) !== isConstructedType;
}

function readByAsn1js(
  input: Uint8Array,
): { readonly error: string } | { readonly error?: never; readonly outline: string } {
  try {
    const { offset, result } = fromBER(Uint8Array.from(input), { parseEmbedded: false });
    if (offset === -1) return { error: result.error };
    return isDer(result) ? { outline: outlineOf(result) } : { error: 'not DER' };
  } catch (thrown) {
    return { error: `thrown: ${String(thrown)}` }; // asn1js throws for times that are none
  }
}

/** asn1js bounds depth. */
function outlineOf(block: BaseBlock): string {
  const { valueBeforeDecodeView: der, lenBlock } = block;
  const tag = der[0] ?? 0;
  if ((tag & 0x20) === 0) return leaf(tag, der.subarray(der.length - lenBlock.length));
  return `${tag}(${partsOf(block).map(outlineOf).join('')})`;
}

/** asn1js reads BER; DER is what has only definite lengths, as short as can be (X.690, 10.1). */
function isDer(block: BaseBlock): boolean {
  const { length, isIndefiniteForm } = block.lenBlock;
  let octets = 1;
  for (let rest = length; length > 0x7f && rest > 0; rest = Math.floor(rest / 256)) octets += 1;
  if (isIndefiniteForm || block.valueBeforeDecodeView.length !== 1 + octets + length) return false;
  return partsOf(block).every(isDer);
}

function partsOf(block: BaseBlock): readonly BaseBlock[] {
  const { valueBlock } = block;
  return block.idBlock.isConstructed && 'value' in valueBlock && Array.isArray(valueBlock.value)
    ? valueBlock.value
    : [];
}

/** Of the deepest part, the number of parts around it. */
function depthOf(found: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of found.matchAll(/[()]/g)) {
    depth += mark === '(' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function leaf(tag: number, contents: Uint8Array): string {
  return `${tag}:${Buffer.from(contents).toString('hex')};`;
}
