import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { type InputFile, openInput } from './input-file.ts';

/** Opens files in the folder of `path`, ignoring case. The files stay open until the result is disposed. */
export function filesNextTo(path: string) {
  const opened: InputFile[] = [];
  return {
    async find(wanted: string): Promise<ByteSource | undefined> {
      const names = await readdir(dirname(path));
      const name = names.find((each) => each.toLowerCase() === wanted.toLowerCase());
      if (name === undefined) return undefined;
      const file = await openInput(join(dirname(path), name));
      opened.push(file);
      return file.source;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const file of opened) await file.close();
    },
  };
}
