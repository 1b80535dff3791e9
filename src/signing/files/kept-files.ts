import type { InputFile } from '../../files/input-file.ts';
import type { SignableFile } from '../../format/signable-file.ts';

/** A small file in memory, as it was planned. */
export interface KeptFile {
  readonly input: InputFile;
  readonly opened: SignableFile;
}

/** In bytes, for all files of a run that wait for their turn. Others are read again. */
const MOST_KEPT = 4 * 1024 * 1024;

/** Returns a function that keeps a file as long as there is room, and returns a function that takes it, once. */
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
