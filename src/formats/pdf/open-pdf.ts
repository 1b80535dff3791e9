import type { ByteSource } from '../../bytes/byte-source.ts';
import { type Finding, isBroken } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { formatErrors } from '../../format/errors.ts';
import { type ContentReader, type Expected, PLAIN_PREVIEW, type SignableFile } from '../../format/signable-file.ts';
import type { Detail, FoundSignature } from '../../format/signature.ts';
import { attachCms } from './attach.ts';
import { type OpenedPdf, openWith } from './opened.ts';
import { planSignature, prepareSignature, prepareTimestamp } from './prepare.ts';
import { lastUpdate } from './remove.ts';
import { findingsOf, locationOf, readSignatures } from './signatures.ts';
import { isDocumentTimestamp } from './stored.ts';

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
    stamping: { of: 'file', prepare: (options) => prepareTimestamp(opened, options) },
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
  const damaged = (reason: string) => formatErrors('result-damaged', { reason });
  const isExpected =
    opened.stored.length === envelopes.length &&
    opened.stored.every(
      ({ cms }, index) => Buffer.compare(cms ?? new Uint8Array(), envelopes[index]?.bytes ?? new Uint8Array()) === 0,
    );
  if (!isExpected || !added.every((one) => envelopes.some(({ bytes }) => Buffer.compare(bytes, one.bytes) === 0))) {
    throw damaged('it does not contain exactly the expected signatures');
  }
  for (const stored of opened.stored) {
    const problem = (await findingsOf(opened, stored)).find(isBroken);
    if (problem !== undefined) throw damaged(`"${stored.field.name}": ${problem.message}`);
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
