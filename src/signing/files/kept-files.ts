import type { InputFile } from '../../files/input-file.ts';
import type { SignableFile } from '../../format/signable-file.ts';

/** A small file that is kept in memory after it was planned. */
export interface KeptFile {
  readonly input: InputFile;
  readonly opened: SignableFile;
}

/** Limit in bytes for all files of a run that are in memory until they are processed. Others are read again. */
const MOST_KEPT = 4 * 1024 * 1024;

/**
 * Returns a function that keeps a file in memory if there is enough space. That function returns another one, which
 * hands out the file only once.
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
