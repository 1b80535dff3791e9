import { digestAlgorithmOf } from '../../asn1/algorithm-identifiers.ts';
import { type ByteSource, isSameBytes, rangeSource } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { parseSignedData } from '../../cms/parse-signed-data.ts';
import { examineSigner } from '../../cms/verify-signer.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { asClause, type Finding, isBroken } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { damagedResult, formatErrors } from '../../format/errors.ts';
import {
  type ContentReader,
  type Embedding,
  type Expected,
  PLAIN_PREVIEW,
  type SignableFile,
} from '../../format/signable-file.ts';
import { cmsEnvelope, type Detail, type FoundSignature } from '../../format/signature.ts';
import { nameOf } from '../../pdf-syntax/values.ts';
import { pdfSigningErrors } from './errors.ts';
import { findAdditions } from './examine/additions.ts';
import { differenceBetween } from './examine/compare.ts';
import { movedObjects } from './examine/later-bytes.ts';
import { examineStorage } from './examine/signature.ts';
import { hexContents, PROGRAM_NAME } from './new-signature.ts';
import { type OpenedPdf, openWith } from './opened.ts';
import { planSignature, prepareSignature, prepareTimestamp } from './prepare.ts';
import { findingsOf, locationOf, readSignatures } from './signatures.ts';
import { isDocumentTimestamp, type StoredSignature } from './stored.ts';

export async function openPdf(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const opened = await openWith(source, reader);
  const details = await describe(opened);
  return {
    signatures: () => readSignatures(opened),
    examine: () => examineFirstTimestamps(opened),
    layout: () => details,
    signing: {
      fixedAlgorithm: undefined,
      unusedOptions: [],
      async check(context) {
        await planSignature(opened, context);
        return { ...PLAIN_PREVIEW, replaces: () => false };
      },
      prepare: (context) => prepareSignature(opened, context),
      verify: (expected) => verify(opened, expected),
    },
    removing: { signatures: () => removable(opened), patch: async () => (await lastUpdate(opened)).patch },
    stamping: { of: 'file', prepare: (algorithm, force) => prepareTimestamp(opened, algorithm, force) },
    attaching: { place: ({ bytes }) => attachCms(opened, bytes) },
    contents: undefined,
    listing: undefined,
    catalog: undefined,
  };
}

/**
 * Document timestamps before the first signature do not belong to any signature. Each signature has its own findings.
 */
async function examineFirstTimestamps(opened: OpenedPdf): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const stored of opened.stored) {
    if (!isDocumentTimestamp(stored)) break;
    for (const finding of await findingsOf(opened, stored)) findings.push(finding);
  }
  return findings;
}

async function removable(opened: OpenedPdf): Promise<readonly FoundSignature[]> {
  const { removed } = await lastUpdate(opened);
  const fields = removed.map(({ field }) => locationOf(field));
  return (await readSignatures(opened)).filter(({ location }) => fields.includes(location));
}

async function verify(opened: OpenedPdf, { added, envelopes }: Expected): Promise<void> {
  const isExpected =
    opened.stored.length === envelopes.length &&
    opened.stored.every(
      ({ cms }, index) => Buffer.compare(cms ?? new Uint8Array(), envelopes[index]?.bytes ?? new Uint8Array()) === 0,
    );
  if (!isExpected || !added.every((one) => envelopes.some(({ bytes }) => Buffer.compare(bytes, one.bytes) === 0))) {
    throw damagedResult('it does not contain exactly the expected signatures');
  }
  for (const stored of opened.stored) {
    const problem = (await findingsOf(opened, stored)).find(isBroken);
    if (problem !== undefined) throw damagedResult(`"${stored.field.name}": ${problem.message}`);
  }
}

const LONGEST_DETAIL = 4096;

async function describe({ document, stored, empty }: OpenedPdf): Promise<readonly Detail[]> {
  const head = Buffer.from(await document.source.read(0, Math.min(8, document.source.size))).toString('latin1');
  const [{ kind }] = document.sections;
  const timestamps = stored.filter(isDocumentTimestamp).length;
  return [
    { name: 'document', value: `PDF ${head.slice(5, 8)}` },
    { name: 'cross-reference', value: `${kind}, ${plural(document.sections.length, 'section')}` },
    { name: 'signatures', value: stored.length === 0 ? 'none' : stored.map(({ field }) => field.name).join(', ') },
    ...(empty.length === 0
      ? []
      : [{ name: 'empty signature fields', value: empty.join(', ').slice(0, LONGEST_DETAIL) }]),
    ...(timestamps === 0 ? [] : [{ name: 'document timestamps', value: String(timestamps) }]),
  ];
}

/**
 * Writes a CMS signature into /Contents of the signature field whose /ByteRange covers the content with the signed
 * digest.
 */
async function attachCms(opened: OpenedPdf, bytes: Uint8Array): Promise<Embedding> {
  const signedData = parseSignedData(bytes);
  const [signer] = signedData.signers;
  const algorithm = digestAlgorithmOf(signer.digestAlgorithm);
  let reason = 'no signature field of the document is prepared for a signature';
  for (const stored of opened.stored.toReversed()) {
    const { contents } = stored;
    const digest = algorithm && (await opened.digest(stored, algorithm));
    if (contents === undefined || digest === undefined || examineStorage(stored).length > 0) continue;
    const [problem] = examineSigner(signedData, signer, { digest });
    if (problem !== undefined) {
      reason = asClause(problem);
      continue;
    }
    const sealed = cmsEnvelope(signedData.bytes);
    const isThere = stored.cms !== undefined && isSameBytes(stored.cms, sealed.bytes);
    const insert = [hexContents(sealed.bytes, contents.bytes.length)];
    return {
      patch: isThere ? [] : [{ offset: contents.start, remove: contents.end - contents.start, insert }],
      added: [sealed],
      envelopes: opened.stored.map((each) => (each === stored ? sealed : cmsEnvelope(each.cms ?? new Uint8Array()))),
    };
  }
  throw formatErrors('not-its-signature', { reason });
}

/** The last update must have been written by this program, or must contain nothing except a signature. */
async function lastUpdate({
  document,
  stored,
  reader,
}: OpenedPdf): Promise<{ readonly patch: Patch; readonly removed: readonly StoredSignature[] }> {
  const last = stored.at(-1);
  if (last === undefined) throw formatErrors('not-signed');
  const { source, sections } = document;
  const refuse = (reason: string) => pdfSigningErrors('pdf-cannot-remove', { reason });
  const { lowest } = sections[0].extent();
  if (sections.length < 2 || last.contents === undefined || last.contents.start < lowest) {
    throw refuse('it is not an update that adds a signature');
  }
  const isOurs = await isOfThisProgram(document, last);
  const start = isOurs ? lowest - 1 : lowest;
  const before = await openWith(rangeSource(source, 0, start), reader).catch(expectedError);
  if (before instanceof CodesignError || before.document.sections[0].offset !== sections[1]?.offset) {
    throw refuse('the bytes before it are not a complete document');
  }
  if (!isOurs) {
    const { moved } = await movedObjects(before.document, document, 1);
    const everySignature = { stored, isTimestampIntact: async () => true };
    const additions = await findAdditions(before.document, document, before.fields, NO_RESTRICTIONS, everySignature);
    const revisions = { signed: before.document, last: document, moved };
    const difference = await differenceBetween(revisions, additions, undefined);
    if (difference !== undefined) throw refuse('it contains other changes in addition to a signature');
  }
  const removed = stored.filter(({ contents }) => contents !== undefined && contents.start >= start);
  return { patch: [{ offset: start, remove: source.size - start, insert: [] }], removed };
}

const NO_RESTRICTIONS = { permission: undefined, lock: undefined };

async function isOfThisProgram(document: OpenedPdf['document'], { dictionary }: StoredSignature): Promise<boolean> {
  const build = await document.dictionary(dictionary.entries.get('Prop_Build'));
  const app = await document.dictionary(build?.entries.get('App'));
  return nameOf(app?.entries.get('Name')) === PROGRAM_NAME;
}
