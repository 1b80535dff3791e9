import { SPC_PE_IMAGE_DATA } from '../../asn1/object-identifiers.ts';
import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { CmsEntry, Container } from '../../authenticode/container.ts';
import { examineRest, isPadding } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { lazy } from '../../bytes/reuse.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { formatWarnings } from '../../format/errors.ts';
import { isGiven } from '../../format/options.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import { align8, type CertificateEntries, readCertificates, typeName } from './certificate-table.ts';
import { contentAsIs, contentToSign, type MeasuredProgram } from './content.ts';
import { describeLayout } from './describe-layout.ts';
import { embedCms, removeTable } from './embed.ts';
import { peWarnings } from './errors.ts';
import { examinePe } from './examine.ts';
import { readPeImageData, signedKindOf, spcPeImageData } from './image-data.ts';
import { type PeLayout, readLayout } from './layout.ts';
import { PAGE_HASHES } from './options.ts';
import { checkPageHashes, comparePages, hashPages } from './page-hashes.ts';

const NO_ENTRIES: CertificateEntries = { certificates: [], damage: undefined };

export async function openPe(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const entries = layout.table === undefined ? NO_ENTRIES : await readCertificates(source, layout.table);
  const warnings = [...layout.warnings, ...describeOddities(entries)];
  const container = certificateTable(layout, entries, warnings, source, reader);
  const file = authenticodeFile(container, reader.budget);
  return {
    ...file,
    signing: {
      ...file.signing,
      async check(context, mode) {
        checkPageHashes(context, layout, mode);
        return await file.signing.check(context, mode);
      },
    },
    layout: () => describeLayout(layout, entries),
    contents: {
      async *entries() {
        yield* (await import('./appended.ts')).appendedFiles(source, layout);
      },
      changing: undefined,
    },
    listing: { as: 'program', digests: async (algorithms) => (await container.measure('new', algorithms)).digests },
  };
}

function certificateTable(
  layout: PeLayout,
  entries: CertificateEntries,
  warnings: readonly string[],
  source: ByteSource,
  { measure }: ContentReader,
): Container<MeasuredProgram> {
  const lists = {
    SHA1: lazy(() => hashPages(source, layout, 'SHA1')),
    SHA256: lazy(() => hashPages(source, layout, 'SHA256')),
  };
  return {
    source,
    warnings,
    kind: signedKindOf(layout.program),
    entries: cmsEntries(entries),
    reasonNotRewritable: reasonNotRewritable(layout, entries),
    async measure(content, algorithms) {
      const pieces = content === 'new' ? contentToSign(layout) : contentAsIs(layout);
      const { digests, sum16: sum } = await measure(source, pieces, [...algorithms, 'SUM16']);
      if (sum === undefined) throw new TypeError('the content was not measured as requested');
      return { digests, sum };
    },
    async content({ formatOptions }) {
      const pageHashes = isGiven(formatOptions, PAGE_HASHES) ? await lists.SHA256() : undefined;
      return { type: SPC_PE_IMAGE_DATA, value: spcPeImageData(pageHashes) };
    },
    async compare({ dataValue }) {
      // If SpcPeImageData is unreadable, `kind` reports a finding.
      const claimed = (dataValue && orUndefined(() => readPeImageData(dataValue).pageHashes)) ?? [];
      return (
        await Promise.all(claimed.map((pages) => comparePages(pages, layout, (digest) => lists[digest]())))
      ).flat();
    },
    write: (cms, { sum }) => embedCms(layout, sum, cms),
    removeAll: async (measured) => layout.table && removeTable(layout, (await measured()).sum),
    examine: (measured) => examinePe(source, layout, entries, measured),
  };
}

function cmsEntries({ certificates }: CertificateEntries): readonly CmsEntry[] {
  return certificates.flatMap(({ stored }, index) =>
    stored === undefined
      ? []
      : [{ location: `certificate table, entry ${index + 1}`, cms: stored.cms, examine: () => examineRest(stored) }],
  );
}

/** Warns about data in the table that signing removes. */
function describeOddities({ certificates, damage }: CertificateEntries): readonly string[] {
  const warnings: string[] = [];
  if (damage !== undefined) warnings.push(peWarnings('table-damaged', { damage }));
  if (certificates.length > 1) {
    warnings.push(peWarnings('table-entries-dropped', { count: certificates.length }));
  }
  for (const { type, stored } of certificates) {
    if (stored === undefined) warnings.push(peWarnings('table-entry-dropped', { what: typeName(type) }));
    else if (!isPadding(stored.rest)) {
      warnings.push(formatWarnings('hidden-bytes-dropped', { where: 'after a signature (CVE-2013-3900)' }));
    }
  }
  return warnings;
}

function reasonNotRewritable({ table, programEnd }: PeLayout, { certificates, damage }: CertificateEntries) {
  if (table === undefined) return undefined;
  if (damage !== undefined) return `their table is damaged (${damage})`;
  if (certificates.length > 1) return `there are ${certificates.length} entries in their table`;
  if (!certificates.every(({ stored }) => stored !== undefined))
    return 'what is there is not an Authenticode signature';
  if (align8(programEnd) === programEnd) return undefined;
  return 'their table is not aligned to 8 bytes, and moving it would break them';
}
