/** A catalog that is to be created: its list, and the files in it, which must not change until it is written. */

import { statSync } from 'node:fs';
import { memorySource } from '../../bytes/byte-source.ts';
import { toCodesignError } from '../../errors/codesign-error.ts';
import { fromFileSystem } from '../../files/file-system-errors.ts';
import type { FileStats, InputFile } from '../../files/input-file.ts';
import { catalogsIn, listedFile } from '../../formats/catalogs.ts';
import type { Format, ListedFile } from '../../formats/format.ts';
import { contentReader } from '../../formats/recognise.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { signingErrors } from '../errors.ts';

export interface CatalogDraft {
  readonly format: Format;
  /** The catalog without its time and its signature. */
  readonly bytes: Uint8Array;
  /** By path. */
  readonly members: ReadonlyMap<string, FileStats>;
}

/** Reads the files, one at a time. Throws `catalog-member-unusable`. */
export async function draftCatalog(
  paths: readonly string[],
  { formats, digestEntries }: { readonly formats: readonly Format[]; readonly digestEntries: DigestEntries },
  open: (path: string) => Promise<InputFile>,
): Promise<CatalogDraft> {
  const { newFormat, create } = catalogsIn(formats);
  const members = new Map<string, FileStats>();
  const listed: ListedFile[] = [];
  for (const path of paths) {
    try {
      await using input = await open(path);
      listed.push(await listedFile(input.source, contentReader(digestEntries), path, formats));
      members.set(path, input.stats);
    } catch (thrown) {
      const { message, hint } = toCodesignError(fromFileSystem(thrown, 'read the file'));
      throw signingErrors('catalog-member-unusable', { path, reason: message, advice: hint }, { cause: thrown });
    }
  }
  return { format: newFormat, bytes: await create(listed), members };
}

/** As if the catalog were there without a signature. `target`: of the file that it may take the place of. */
export async function openDraft({ bytes }: CatalogDraft, target: string): Promise<InputFile> {
  const source = memorySource(bytes);
  const close = async (): Promise<void> => undefined;
  return {
    path: target,
    source,
    unwatched: source,
    descriptor: -1,
    stats: { ...(statSync(target, { bigint: true, throwIfNoEntry: false }) ?? newFile()), size: BigInt(bytes.length) },
    watch: (other) => other,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Of this user, with the usual permissions. */
function newFile(): FileStats {
  const none = { dev: 0n, ino: 0n, size: 0n, mtimeNs: 0n, ctimeNs: 0n, nlink: 1n };
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0].map(BigInt) as [bigint, bigint];
  return { ...none, mode: BigInt(0o100666 & ~process.umask()), uid, gid };
}
