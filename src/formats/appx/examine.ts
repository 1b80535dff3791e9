import { isPadding } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import type { Detail } from '../../format/signature.ts';
import { CENTRAL_RECORD_LENGTH, LOCAL_HEADER_LENGTH } from '../../zip/fields.ts';
import { compareDigests } from './block-map.ts';
import { examineOffsets, examinePackages, type InnerPackage, listed } from './bundle/packages.ts';
import { type AppxPackage, mappedEntries } from './package.ts';
import { PARTS } from './part-names.ts';

type DamageOf = (inner: InnerPackage) => Promise<string | undefined>;

/** Finds defects of the contents, which a new signature cannot repair. */
export async function examineContents(
  opened: AppxPackage,
  source: ByteSource,
  damageOf: DamageOf,
): Promise<readonly Finding[]> {
  const { archive, manifest, blockMap, wrongSizes } = opened;
  const wrong =
    wrongSizes.length > 0 ? wrongSizes : await compareDigests(source, blockMap.bytes, mappedEntries(archive, manifest));
  return [
    ...examineOffsets(opened),
    ...(wrong.length === 0
      ? []
      : [broken('block-map-differs', `The block map does not match the package: ${listed(wrong)}.`)]),
    ...(await examinePackages(source, opened, damageOf)),
  ];
}

export async function examinePackage(
  opened: AppxPackage,
  source: ByteSource,
  damageOf: DamageOf,
): Promise<readonly Finding[]> {
  const { contentTypes, signature } = opened;
  const findings = [...(await examineContents(opened, source, damageOf))];
  if (signature === undefined) return findings;
  if (!contentTypes.namesSignature) {
    const message = `${PARTS.contentTypes} does not list the signature, so Windows does not find it.`;
    findings.push(broken('content-type-missing', message));
  }
  if (!signature.hasMagic) {
    const message = `${PARTS.signature} does not begin with PKCX, so Windows does not read it.`;
    findings.push(broken('signature-entry-odd', message));
  }
  const hidden = hiddenBytes(opened);
  if (hidden > 0) {
    const message = `The entry of the signature hides ${plural(hidden, 'byte')}, which no signature covers.`;
    findings.push(broken('hidden-bytes', message));
  }
  return findings;
}

const ZIP64_FIELD_LENGTH = 4 + 3 * 8;

function hiddenBytes({ archive, signature }: AppxPackage): number {
  if (signature === undefined) return 0;
  const { entry, rest } = signature;
  const { offset, dataOffset, end, recordStart, recordEnd, name } = entry;
  const inHeader = dataOffset - offset - LOCAL_HEADER_LENGTH - name.length;
  const inRecord = recordEnd - recordStart - CENTRAL_RECORD_LENGTH - name.length;
  return [
    Math.max(0, inHeader - ZIP64_FIELD_LENGTH),
    Math.max(0, inRecord - ZIP64_FIELD_LENGTH),
    archive.end.directoryOffset - end,
    isPadding(rest) ? 0 : rest.length,
  ].reduce((sum, length) => sum + length, 0);
}

export function describePackage(opened: AppxPackage): readonly Detail[] {
  const { kind, archive, manifest, algorithm, codeIntegrity, signature } = opened;
  const { name, version, publisher, packages } = manifest;
  return [
    { name: kind, value: `${name} ${version}, ${plural(archive.entries.length, 'entry', 'entries')}` },
    { name: 'publisher', value: publisher },
    ...(kind === 'bundle' ? [{ name: 'packages', value: listed(packages.map((each) => each.name)) || 'none' }] : []),
    { name: 'block map', value: algorithm },
    { name: 'catalog', value: codeIntegrity === undefined ? 'none' : PARTS.codeIntegrity },
    { name: 'signature', value: signature ? `at byte ${signature.entry.offset}, the last entry` : 'none' },
  ];
}
