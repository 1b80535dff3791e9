/**
 * Page hashes are digests of a program's headers and of each page of its sections, which Windows checks when it loads
 * the page ("Windows Authenticode Portable Executable Signature Format", SpcPeImagePageHashes).
 */

import { hash } from 'node:crypto';
import { LONGEST_CMS } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { broken, type Finding, warning } from '../../errors/finding.ts';
import { isGiven } from '../../format/options.ts';
import type { SigningContext, SigningMode } from '../../format/signable-file.ts';
import { CHECKSUM_LENGTH, TABLE_ENTRY_LENGTH } from './content.ts';
import { peErrors } from './errors.ts';
import type { PageDigest, PageHashes } from './image-data.ts';
import type { PeLayout } from './layout.ts';
import { PAGE_HASHES } from './options.ts';

/** Unlike osslsigncode, does not use SectionAlignment as the page size. */
const PAGE_LENGTH = 4096;
/** Machine types Alpha, 64-bit Alpha and Itanium. */
const MACHINES_WITH_LARGE_PAGES: readonly number[] = [0x184, 0x284, 0x200];
const OFFSET_LENGTH = 4;
const DIGEST_LENGTH: Readonly<Record<PageDigest, number>> = { SHA1: 20, SHA256: 32 };
const ROOM = 1024 * 1024;
const BLOCK_LENGTH = 1024 * 1024;

export function checkPageHashes({ formatOptions }: SigningContext, layout: PeLayout, mode: SigningMode): void {
  if (!isGiven(formatOptions, PAGE_HASHES)) return;
  const present = mode === 'append' ? (layout.table?.size ?? 0) : 0;
  const isTooLong = present + listLength(layout, 'SHA256') + ROOM > LONGEST_CMS;
  const tooLong = isTooLong ? 'a signature with a digest of each page would be too long' : undefined;
  const reason = obstacleTo(layout) ?? tooLong;
  if (reason !== undefined) throw peErrors('page-hashes-impossible', { reason });
}

export async function comparePages(
  { algorithm, type, list }: PageHashes,
  layout: PeLayout,
  lists: (algorithm: PageDigest) => Promise<Uint8Array>,
): Promise<readonly Finding[]> {
  const reason = algorithm === undefined ? 'their kind is not known' : obstacleTo(layout);
  if (algorithm === undefined || reason !== undefined) {
    return [warning('page-hashes-not-checked', `The page hashes (${algorithm ?? type}) were not checked: ${reason}.`)];
  }
  const isSame = list.length === listLength(layout, algorithm) && Buffer.compare(await lists(algorithm), list) === 0;
  if (isSame) return [];
  const message = `The page hashes in the signature (${algorithm}) do not match the file: the file was changed, or the page hashes were computed incorrectly.`;
  return [broken('page-hashes-differ', message)];
}

/** Returns a list of file offsets (u32) with a digest each: the headers, the pages of all sections, and the end. */
export async function hashPages(source: ByteSource, layout: PeLayout, algorithm: PageDigest): Promise<Uint8Array> {
  const pageLength = pageLengthOf(layout);
  const list = Buffer.alloc(listLength(layout, algorithm));
  let position = 0;
  const add = (offset: number, page: Uint8Array): void => {
    position = list.writeUInt32LE(offset, position);
    position += hash(algorithm, page, 'buffer').copy(list, position);
  };

  const headers = await source.read(0, layout.headersLength);
  const coveredHeaders = [
    headers.subarray(0, layout.checksumOffset),
    headers.subarray(layout.checksumOffset + CHECKSUM_LENGTH, layout.tableEntryOffset),
    headers.subarray(layout.tableEntryOffset + TABLE_ENTRY_LENGTH),
  ];
  // `Buffer.concat` pads a page with zeros.
  add(0, Buffer.concat(coveredHeaders, pageLength - CHECKSUM_LENGTH - TABLE_ENTRY_LENGTH));
  let end = 0;
  for (const section of layout.sections) {
    end = section.end;
    for (let offset = section.start; offset < end; offset += BLOCK_LENGTH) {
      const block = await source.read(offset, Math.min(BLOCK_LENGTH, end - offset));
      for (let at = 0; at < block.length; at += pageLength) {
        add(offset + at, Buffer.concat([block.subarray(at, at + pageLength)], pageLength));
      }
    }
  }
  // The last entry marks the end of the list, and its digest consists of zeros.
  list.writeUInt32LE(end, position);
  return list;
}

/**
 * Returns a clause that says why the program cannot have page hashes. Digesting overlapping sections could take hours.
 */
function obstacleTo(layout: PeLayout): string | undefined {
  const { headersLength, tableEntryOffset, programEnd, sections } = layout;
  const pageLength = pageLengthOf(layout);
  if (headersLength > Math.min(pageLength, programEnd)) {
    return `its headers take ${headersLength} bytes, more than the first page (${Math.min(pageLength, programEnd)} bytes)`;
  }
  if (headersLength < tableEntryOffset + TABLE_ENTRY_LENGTH) {
    return `SizeOfHeaders in its header is ${headersLength}, too small for its own fields`;
  }
  const covered = sections.reduce((sum, { start, end }) => sum + end - start, 0);
  return covered > programEnd ? 'its sections overlap' : undefined;
}

function listLength(layout: PeLayout, algorithm: PageDigest): number {
  const pageLength = pageLengthOf(layout);
  const pages = layout.sections.reduce((sum, { start, end }) => sum + Math.ceil((end - start) / pageLength), 0);
  return (pages + 2) * (OFFSET_LENGTH + DIGEST_LENGTH[algorithm]);
}

function pageLengthOf({ program: { machine } }: PeLayout): number {
  return MACHINES_WITH_LARGE_PAGES.includes(machine) ? 2 * PAGE_LENGTH : PAGE_LENGTH;
}
