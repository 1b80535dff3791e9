import type { InputFile } from '../../files/input-file.ts';
import type { SignableFile } from '../../format/signable-file.ts';

/** A small file that stays in memory after planning. */
export interface KeptFile {
  readonly input: InputFile;
  readonly opened: SignableFile;
}

/**
 * Limit in bytes on all files of a run that are kept in memory until they are processed. Other files are read again.
 */
const MOST_KEPT = 4 * 1024 * 1024;

/**
 * Returns a function that keeps a file in memory if there is enough space. Its result returns the file only on the
 * first call.
 */
export function keepSmallFiles() {
  let room = MOST_KEPT;
  return (input: InputFile, opened: SignableFile): (() => KeptFile | undefined) => {
    const { size } = input.source;
    if (!input.isInMemory || size > room) return () => undefined;
    room -= size;
    let kept: KeptFile | undefined = { input, opened };
    return () => {
      const taken = kept;
      if (taken !== undefined) room += size;
      kept = undefined;
      return taken;
    };
  };
}
