import { SPC_NESTED_SIGNATURE } from '../asn1/object-identifiers.ts';
import { parts } from '../asn1/read.ts';
import type { ByteSource } from '../bytes/byte-source.ts';
import { isBytes, joinRanges, type Patch, type Piece, pieceLength, readPieces, surveyPieces } from '../bytes/pieces.ts';
import {
  addUnsignedValue,
  changeUnsignedAttributes,
  type UnsignedAttribute,
  withValues,
} from '../cms/unsigned-attributes.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/measure-content.ts';
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
import type { Container, MeasuredContent } from './container.ts';
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

type AuthenticodeFile = Omit<SignableFile, 'layout'>;

export function authenticodeFile<Measured extends MeasuredContent>(container: Container<Measured>, budget: WorkBudget) {
  let measured: Promise<Measured> | undefined;
  const present = (): Promise<Measured> => {
    measured ??= findSignatures(container).then((located) =>
      container.measure('present', distinct(located.flatMap(({ found }) => algorithmsOf(found)))),
    );
    return measured;
  };
  // The result is not cached, because reading signatures is fast, and a run can contain many files.
  const signatures = async () => embeddedSignatures(await findSignatures(container), container, present, budget);
  return {
    signatures,
    examine: async () => (await container.examine?.(present)) ?? [],
    signing: {
      fixedAlgorithm: undefined,
      unusedOptions: [],
      async check(_context, mode) {
        if (mode === 'append') await outerSignature(container);
        return { ...PLAIN_PREVIEW, warnings: container.warnings ?? [], replaces: () => mode === 'replace' };
      },
      prepare: (context, mode) => prepare(container, context, mode),
      verify: (expected) => verify(container, expected),
    },
    removing: { signatures, patch: () => container.removeAll(present) },
    stamping: {
      of: 'each-signature',
      async stamp(tokens) {
        const cms = await stampSignatures(container, tokens);
        return embeddingOf(container.write(cms, await present()), cms);
      },
    },
    attaching: { place: ({ bytes }) => attach(container, bytes) },
    contents: undefined,
    listing: undefined,
    catalog: undefined,
  } satisfies AuthenticodeFile;
}

async function outerSignature(container: Container) {
  if (container.reasonForOneSignature !== undefined)
    throw formatErrors('cannot-append', { reason: container.reasonForOneSignature });
  return readOuterSignature(container);
}

async function prepare<Measured extends MeasuredContent>(
  container: Container<Measured>,
  context: SigningContext,
  mode: SigningMode,
): Promise<Prepared> {
  const outer = mode === 'append' ? await outerSignature(container) : undefined;
  const measured = await container.measure(outer === undefined ? 'new' : 'present', [context.algorithm]);
  const content = await container.content(context, measured);
  return {
    units: [prepareAuthenticode(context, content)],
    embed([sealed]) {
      const cms = outer === undefined ? sealed.bytes : nestSignature(outer, sealed.bytes);
      return embeddingOf(container.write(cms, measured), cms, sealed.bytes);
    },
  };
}

/** Replaces the existing signature. Its digest shows which form of the content was signed. */
async function attach<Measured extends MeasuredContent>(
  container: Container<Measured>,
  bytes: Uint8Array,
): Promise<Embedding> {
  const found = findAuthenticode(bytes, undefined, container.kind.contentType);
  const { parts } = found;
  const measure = (content: 'new' | 'without-metadata') => container.measure(content, distinct(algorithmsOf(found)));
  let measured = await measure('new');
  const isOther = parts !== undefined && contentMatches(parts, measured) === false;
  if (isOther && container.hasFormWithoutMetadata) measured = await measure('without-metadata');
  return embeddingOf(container.write(found.cms, measured), found.cms);
}

/** Checks the reopened file. Attaching the signature again must not change it. */
async function verify<Measured extends MeasuredContent>(
  container: Container<Measured>,
  { added: [added], envelopes }: Expected,
): Promise<void> {
  const [outer, ...others] = envelopes;
  if (outer === undefined || others.length > 0) throw new TypeError('the file holds one envelope');
  const [entry, ...further] = await container.entries();
  if (entry?.cms === undefined || further.length > 0 || Buffer.compare(entry.cms, outer.bytes) !== 0) {
    throw damagedResult('its signature differs from the new one');
  }
  const isNested = Buffer.compare(added.bytes, outer.bytes) !== 0;
  const signatures = (isNested ? [added, outer] : [added]).map(({ bytes }) => readSigned(bytes, container));
  const measured = await container.measure('present', distinct(signatures.map(({ algorithm }) => algorithm)));
  for (const { algorithm, contentDigest } of signatures) {
    const actual = measured.digests.get(algorithm);
    if (actual === undefined || Buffer.compare(actual, contentDigest) !== 0) {
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
    if (Buffer.compare(await source.read(position, chunk.length), chunk) !== 0) return false;
    position += chunk.length;
  }
  return true;
}

function embeddingOf(patch: Patch, cms: Uint8Array, added = cms): Embedding {
  return { patch, added: [cmsEnvelope(added)], envelopes: [cmsEnvelope(cms)] };
}

function distinct<Algorithm extends ContentDigest | DigestAlgorithm>(algorithms: readonly Algorithm[]): Algorithm[] {
  return [...new Set(algorithms)];
}

/** The timestamp of the outer signature and the signatures nested in it do not change. */
export function nestSignature(outerCms: Uint8Array, nestedCms: Uint8Array): Uint8Array {
  return addUnsignedValue(outerCms, { type: SPC_NESTED_SIGNATURE, value: nestedCms });
}

async function readOuterSignature(container: Container): Promise<Uint8Array | undefined> {
  if (container.reasonNotRewritable !== undefined) throw cannotAppend(container.reasonNotRewritable);
  const [entry] = await container.entries();
  if (entry === undefined) return undefined;
  if (entry.cms === undefined) throw cannotAppend('the existing signature is too long');
  const { cms } = entry;
  const outer = attempt(() => readAuthenticode(cms, container.kind.contentType));
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
async function stampSignatures(container: Container, tokens: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  if (container.reasonNotRewritable !== undefined)
    throw authenticodeErrors('cannot-stamp', { reason: container.reasonNotRewritable });
  const [outer] = await findSignatures(container);
  if (outer === undefined) throw foreign();
  const waiting = new Set(tokens.keys());
  const cms = stamped(outer.found, outer.entry.location, (location) => {
    waiting.delete(location);
    return tokens.get(location);
  });
  if (waiting.size > 0) throw foreign();
  return cms;
}

function stamped(found: FoundCms, location: string, tokenOf: (location: string) => Uint8Array | undefined): Uint8Array {
  const after = found.nested.map((inner, index) => stamped(inner, nestedLocation(location, index), tokenOf));
  const isSame = after.every((cms, index) => cms === found.nested[index]?.cms);
  const cms = isSame ? found.cms : exchangeNested(found.cms, (nested, index) => after[index] ?? nested);
  const token = tokenOf(location);
  return token === undefined ? cms : stampCms(AUTHENTICODE_PROFILE, cms, token);
}

const foreign = () => new TypeError('the signature is not one of this file');

/** All other attribute values stay at their positions. */
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

/** Keeps the stored order, even if DER requires another one. */
function orderedAs(before: readonly Uint8Array[], after: readonly Uint8Array[]): readonly Uint8Array[] {
  return isInDerOrder(before) ? after.toSorted(Buffer.compare) : after;
}
