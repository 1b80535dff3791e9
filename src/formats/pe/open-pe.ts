import { SPC_PE_IMAGE_DATA } from '../../asn1/object-identifiers.ts';
import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import { type CmsEntry, type Container, digestIn } from '../../authenticode/container.ts';
import { spcContent } from '../../authenticode/spc-structures.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { lazy } from '../../bytes/reuse.ts';
import { orUndefined } from '../../errors/codesign-error.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { isGiven } from '../../format/options.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import { align8, type CertificateEntries, readCertificates, type WinCertificate } from './certificate-table.ts';
import { contentAsIs, contentToSign, type MeasuredProgram, measureProgram } from './content.ts';
import { describeLayout } from './describe-layout.ts';
import { embedCms, removeTable } from './embed.ts';
import { describeOddities, hiddenLength, holdsCms, readCms } from './embedded-cms.ts';
import { examinePe } from './examine.ts';
import { pageHashesIn, signedKindOf, spcPeImageData } from './image-data.ts';
import { type PeLayout, readLayout } from './layout.ts';
import { PAGE_HASHES } from './options.ts';
import { checkPageHashes, comparePages, hashPages } from './page-hashes.ts';

const NO_ENTRIES: CertificateEntries = { certificates: [], damage: undefined };

export async function openPe(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const entries = layout.table === undefined ? NO_ENTRIES : await readCertificates(source, layout.table);
  const warnings = [...layout.warnings, ...(await describeOddities(source, entries))];
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
    entries: () => cmsEntries(source, entries),
    reasonNotRewritable: obstacleIn(layout, entries),
    measure: (content, algorithms) =>
      measureProgram(source, content === 'new' ? contentToSign(layout) : contentAsIs(layout), measure, algorithms),
    async content({ algorithm, formatOptions }, measured) {
      const value = spcPeImageData(isGiven(formatOptions, PAGE_HASHES) ? await lists.SHA256() : undefined);
      return spcContent({ type: SPC_PE_IMAGE_DATA, value }, algorithm, digestIn(measured, algorithm));
    },
    async compare({ dataValue }) {
      // If the data is unreadable, `kind` reports that as a finding.
      const claimed = (dataValue && orUndefined(() => pageHashesIn(dataValue))) ?? [];
      return (
        await Promise.all(claimed.map((pages) => comparePages(pages, layout, (digest) => lists[digest]())))
      ).flat();
    },
    write: (cms, { sum }) => embedCms(layout, sum, cms),
    removeAll: (measured) => removeTable(layout, measured),
    examine: (measured) => examinePe(source, layout, entries, measured),
  };
}

async function cmsEntries(source: ByteSource, { certificates }: CertificateEntries): Promise<readonly CmsEntry[]> {
  const found: CmsEntry[] = [];
  for (const [index, certificate] of certificates.entries()) {
    if (!holdsCms(certificate)) continue;
    const location = `certificate table, entry ${index + 1}`;
    found.push({ location, cms: await readCms(source, certificate), examine: () => examineEntry(source, certificate) });
  }
  return found;
}

function obstacleIn({ table, programEnd }: PeLayout, { certificates, damage }: CertificateEntries): string | undefined {
  if (table === undefined) return undefined;
  if (damage !== undefined) return `their table is damaged (${damage})`;
  if (certificates.length > 1) return `there are ${certificates.length} entries in their table`;
  if (!certificates.every(holdsCms)) return 'what is there is not an Authenticode signature';
  if (align8(programEnd) === programEnd) return undefined;
  return 'their table is not aligned to 8 bytes, and moving it would break them';
}

/** No signature covers bytes that follow the CMS in its entry, but Windows accepts such bytes by default. */
async function examineEntry(source: ByteSource, certificate: WinCertificate): Promise<readonly Finding[]> {
  const length = await hiddenLength(source, certificate);
  if (length === 0) return [];
  const message = `The file hides ${plural(length, 'byte')} after the signature, which no signature covers (CVE-2013-3900).`;
  return [broken('hidden-bytes', message)];
}
