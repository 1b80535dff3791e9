import { SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { parts } from '../asn1/read.ts';
import { type ByteSource, isSameBytes } from '../bytes/byte-source.ts';
import { isBytes, joinRanges, type Patch, type Piece, pieceLength, readPieces, surveyPieces } from '../bytes/pieces.ts';
import { lazy } from '../bytes/reuse.ts';
import {
  addUnsignedValue,
  changeUnsignedAttributes,
  type UnsignedAttribute,
  withValues,
} from '../cms/unsigned-attributes.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { attempt, CodesignError } from '../errors/codesign-error.ts';
import { stampCms } from '../format/cms.ts';
import { damagedResult, formatErrors } from '../format/errors.ts';
import {
  type Embedding,
  type Expected,
  PLAIN_PREVIEW,
  type Prepared,
  type SignableFile,
  type SigningContext,
  type SigningMode,
} from '../format/signable-file.ts';
import { cmsEnvelope } from '../format/signature.ts';
import { type Container, digestIn } from './container.ts';
import { authenticodeErrors } from './errors.ts';
import { contentMatches, isInDerOrder } from './examine-authenticode.ts';
import { AUTHENTICODE_PROFILE, prepareAuthenticode } from './profile.ts';
import {
  algorithmsOf,
  type FoundCms,
  findAuthenticode,
  readAuthenticode,
  readContentDigest,
} from './read-authenticode.ts';
import { embeddedSignatures, findSignatures, nestedLocation } from './signatures.ts';
import { spcContent } from './spc-structures.ts';

export function authenticodeFile(container: Container, budget: WorkBudget) {
  const present = lazy(() => {
    const algorithms = findSignatures(container).flatMap(({ found }) => algorithmsOf(found));
    return container.measure('present', [...new Set(algorithms)]);
  });
  // The result is not cached, because reading signatures is fast, and a run can contain many files.
  const signatures = async () => embeddedSignatures(findSignatures(container), container, present, budget);
  return {
    signatures,
    examine: async () => (await container.examine?.(present)) ?? [],
    signing: {
      fixedAlgorithm: undefined,
      unusedOptions: [],
      async check(_context, mode) {
        if (mode === 'append') outerSignature(container);
        return { ...PLAIN_PREVIEW, warnings: container.warnings ?? [], replaces: () => mode === 'replace' };
      },
      prepare: (context, mode) => prepare(container, context, mode),
      verify: (expected) => verify(container, expected),
    },
    removing: {
      signatures,
      async patch() {
        const patch = await container.removeAll(present);
        if (patch === undefined) throw formatErrors('not-signed');
        return patch;
      },
    },
    stamping: {
      of: 'each-signature',
      async stamp(tokens) {
        const cms = stampSignatures(container, tokens);
        return embeddingOf(container.write(cms, await present()), cms);
      },
    },
    attaching: { place: ({ bytes }) => attach(container, bytes) },
    contents: undefined,
    listing: undefined,
    catalog: undefined,
  } satisfies Omit<SignableFile, 'layout'>;
}

async function prepare(container: Container, context: SigningContext, mode: SigningMode): Promise<Prepared> {
  const { algorithm } = context;
  const outer = mode === 'append' ? outerSignature(container) : undefined;
  const measured = await container.measure(outer === undefined ? 'new' : 'present', [algorithm]);
  const content = await container.content(context, measured);
  const isList = container.kind.contentType !== undefined;
  const signed = isList ? content : spcContent(content, algorithm, digestIn(measured, algorithm));
  return {
    units: [prepareAuthenticode(context, signed)],
    embed([sealed]) {
      const cms = outer === undefined ? sealed.bytes : nestSignature(outer, sealed.bytes);
      return embeddingOf(container.write(cms, measured), cms, sealed.bytes);
    },
  };
}

/**
 * Replaces the existing signature. Digests the content with and without metadata, because the new signature may cover
 * either.
 */
async function attach(container: Container, bytes: Uint8Array): Promise<Embedding> {
  const found = findAuthenticode(bytes, undefined, container.kind.contentType);
  const { cms, parts } = found;
  const algorithms = [...new Set(algorithmsOf(found))];
  let measured = await container.measure('new', algorithms);
  const isOther = parts !== undefined && contentMatches(parts, measured) === false;
  if (isOther && container.hasFormWithoutMetadata) measured = await container.measure('without-metadata', algorithms);
  return embeddingOf(container.write(cms, measured), cms);
}

/** Checks the reopened file, which must not change if its signature is written again. */
async function verify(container: Container, { added: [added], envelopes: [outer = added] }: Expected): Promise<void> {
  const [entry, ...others] = container.entries;
  if (entry?.cms === undefined || others.length > 0 || !isSameBytes(entry.cms, outer.bytes)) {
    throw damagedResult('its signature differs from the new one');
  }
  const changed = isSameBytes(added.bytes, outer.bytes) ? [added] : [added, outer];
  const signatures = changed.map(({ bytes }) => readSigned(bytes, container));
  const measured = await container.measure('present', [...new Set(signatures.map(({ algorithm }) => algorithm))]);
  for (const { algorithm, contentDigest } of signatures) {
    const actual = measured.digests.get(algorithm);
    if (actual === undefined || !isSameBytes(actual, contentDigest)) {
      throw damagedResult(`its ${algorithm} digest differs from the signed one`);
    }
  }
  if (!(await changesNothing(container.source, container.write(outer.bytes, measured)))) {
    throw damagedResult('its signature is not stored as expected');
  }
}

function readSigned(cms: Uint8Array, { kind }: Container) {
  const read = attempt(() => readContentDigest(cms, kind.contentType));
  if (read instanceof CodesignError) throw damagedResult(`its signature cannot be read: ${read.message}`, read);
  const { contentDigestAlgorithm: algorithm, contentDigest } = read;
  if (algorithm === undefined) throw damagedResult('its signature uses another digest algorithm');
  return { algorithm, contentDigest };
}

async function changesNothing(source: ByteSource, patch: Patch): Promise<boolean> {
  for (const { offset, remove, insert } of patch) {
    if (surveyPieces(insert, source.size).length !== remove) return false;
    let position = offset;
    for (const piece of joinRanges(insert)) {
      const isInPlace = !isBytes(piece) && piece.start === position;
      if (!isInPlace && !(await isAt(source, position, piece))) return false;
      position += pieceLength(piece);
    }
  }
  return true;
}

async function isAt(source: ByteSource, start: number, piece: Piece): Promise<boolean> {
  let position = start;
  for await (const chunk of readPieces(source, [piece])) {
    if (!isSameBytes(await source.read(position, chunk.length), chunk)) return false;
    position += chunk.length;
  }
  return true;
}

function embeddingOf(patch: Patch, cms: Uint8Array, added = cms): Embedding {
  return { patch, added: [cmsEnvelope(added)], envelopes: [cmsEnvelope(cms)] };
}

/** The timestamp of the outer signature and the signatures nested in it do not change. */
export function nestSignature(outerCms: Uint8Array, nestedCms: Uint8Array): Uint8Array {
  return addUnsignedValue(outerCms, { type: SPC_NESTED_SIGNATURE, value: nestedCms });
}

/** Returns the signature in which a new one can be nested. Throws `cannot-append`. */
function outerSignature({ reasonForOneSignature, reasonNotRewritable, entries: [entry], kind }: Container) {
  const obstacle = reasonForOneSignature ?? reasonNotRewritable;
  if (obstacle !== undefined) throw cannotAppend(obstacle);
  if (entry === undefined) return undefined;
  const { cms } = entry;
  if (cms === undefined) throw cannotAppend('the existing signature is too long');
  const outer = attempt(() => readAuthenticode(cms, kind.contentType));
  if (outer instanceof CodesignError)
    throw cannotAppend(`the existing signature cannot be read: ${outer.message}`, outer);
  if (outer.algorithm === undefined)
    throw cannotAppend('the existing signature uses a digest algorithm that is not supported');
  return outer.signedData.bytes;
}

function cannotAppend(reason: string, cause?: unknown): CodesignError {
  return formatErrors('cannot-append', { reason }, { cause });
}

/** Throws `cannot-stamp` if rewriting the entries would lose data. */
function stampSignatures(container: Container, tokens: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const { reasonNotRewritable: reason } = container;
  if (reason !== undefined) throw authenticodeErrors('cannot-stamp', { reason });
  const [outer] = findSignatures(container);
  if (outer === undefined) throw formatErrors('not-signed');
  return stamped(outer.found, outer.entry.location, tokens);
}

function stamped(found: FoundCms, location: string, tokens: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const after = found.nested.map((inner, index) => stamped(inner, nestedLocation(location, index), tokens));
  const isSame = after.every((cms, index) => cms === found.nested[index]?.cms);
  const cms = isSame ? found.cms : exchangeNested(found.cms, (nested, index) => after[index] ?? nested);
  const token = tokens.get(location);
  return token === undefined ? cms : stampCms(AUTHENTICODE_PROFILE, cms, token);
}

export function exchangeNested(
  cms: Uint8Array,
  exchange: (nested: Uint8Array, index: number) => Uint8Array,
): Uint8Array {
  let index = 0;
  const exchanged = (attribute: UnsignedAttribute): Uint8Array => {
    const before = parts(attribute.values, 'nested signatures').map(({ bytes }) => bytes);
    return withValues(
      attribute,
      orderedAs(
        before,
        before.map((bytes) => exchange(bytes, index++)),
      ),
    );
  };
  return changeUnsignedAttributes(cms, (attributes) =>
    orderedAs(
      attributes.map(({ element }) => element.bytes),
      attributes.map((each) => (each.type === SPC_NESTED_SIGNATURE ? exchanged(each) : each.element.bytes)),
    ),
  );
}

/** Sorts the values only if they were in DER order before the change. */
function orderedAs(before: readonly Uint8Array[], after: readonly Uint8Array[]): readonly Uint8Array[] {
  return isInDerOrder(before) ? after.toSorted(Buffer.compare) : after;
}
