import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { stampCms } from '../../format/cms.ts';
import type { Embedding } from '../../format/signable-file.ts';
import { cmsEnvelope } from '../../format/signature.ts';
import { readTimestampToken } from '../../timestamp/read-token.ts';
import { usesSha1 } from '../../timestamp/timestamp.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import { editArchive } from '../../zip/edit-archive.ts';
import { UTF8_NAME } from '../../zip/fields.ts';
import { type NewEntry, storedEntry } from '../../zip/write-records.ts';
import type { JarExpectation } from './check.ts';
import { jarErrors } from './errors.ts';
import type { JarLayout } from './layout.ts';
import { type EmbeddedBlock, readBlocks } from './signature/blocks.ts';
import { JAR_PROFILE } from './signature/new-signature.ts';

export async function stampSignatures(
  source: ByteSource,
  layout: JarLayout,
  tokens: ReadonlyMap<string, Uint8Array>,
): Promise<Embedding & JarExpectation> {
  const blocks = await readBlocks(source, layout);
  const stamped = new Map<EmbeddedBlock, Uint8Array>();
  for (const [location, value] of tokens) {
    const block = blocks.find(({ entry }) => entry.name === location);
    if (block === undefined) throw new TypeError('the signature is not one of this file');
    const ofSignature = block.signedData?.signers[0].signature ?? new Uint8Array();
    if (usesSha1(readTimestampToken(value, ofSignature)))
      throw jarErrors('jar-unsigned-timestamp', { algorithm: 'SHA1' });
    stamped.set(block, stampCms(JAR_PROFILE, block.cms, value));
  }
  const kept = blocks.map((block) => stamped.get(block) ?? block.cms);
  const [sealed = kept[0] ?? new Uint8Array()] = stamped.values();
  const after = new Map([...stamped].map(([{ entry }, cms]) => [entry, blockEntry(entry, cms)]));
  const patch =
    after.size === 0 ? [] : editArchive(layout.archive, { remove: new Set(after.keys()), first: [], after });
  return keepingPositions(patch, sealed, kept);
}

export function keepingPositions(
  patch: Patch,
  added: Uint8Array,
  kept: readonly Uint8Array[],
): Embedding & JarExpectation {
  return { patch, added: [cmsEnvelope(added)], envelopes: kept.map(cmsEnvelope), keepsPositions: true };
}

export function blockEntry(old: Pick<ZipEntry, 'name' | 'flags'>, cms: Uint8Array): NewEntry {
  return { ...storedEntry(rawName(old), cms), flags: old.flags & UTF8_NAME };
}

export function rawName({ name }: { readonly name: string }): string {
  return Buffer.from(name).toString('latin1');
}
