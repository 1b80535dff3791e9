/** Reads an archive in which a JSON list of files precedes the contents of the files. */

import { type ByteSource, rangeSource } from '../../bytes/byte-source.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { SignableFile } from '../../format/signable-file.ts';
import { containerOnly } from '../container-only.ts';

/** Before the JSON text, the file contains its length and the lengths of the two pickles. */
const TEXT_START = 16;
const LARGEST_LIST = 64 * 1024 * 1024;
const MOST_LEVELS = 200;

interface ListedFile {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export async function openAsar(source: ByteSource): Promise<SignableFile> {
  const fields = Buffer.from(await source.read(0, TEXT_START));
  const [pickle, length] = [fields.readUInt32LE(4), fields.readUInt32LE(12)];
  const dataStart = 8 + pickle;
  if (TEXT_START + length > dataStart || dataStart > source.size || length > LARGEST_LIST) {
    throw malformed(`its list of files would have ${length} bytes`);
  }
  const files = listFiles(Buffer.from(await source.read(TEXT_START, length)).toString('utf8'), dataStart, source.size);
  return containerOnly(
    {
      async *entries() {
        for (const { name, start, end } of files) {
          yield { name, size: end - start, open: async () => rangeSource(source, start, end) };
        }
      },
    },
    [{ name: 'files', value: String(files.length) }],
  );
}

/** The list contains folders (`files`), links, unpacked files, and files with an `offset` and a `size`. */
function listFiles(text: string, dataStart: number, fileSize: number): readonly ListedFile[] {
  const files: ListedFile[] = [];
  const visit = (entry: unknown, path: string, level: number): void => {
    const { files: inside, link, unpacked, offset, size } = objectAt(entry, path);
    if (inside !== undefined) {
      if (level > MOST_LEVELS) throw malformed('its folders are nested too deeply');
      for (const [name, each] of Object.entries(objectAt(inside, path))) visit(each, `${path}/${name}`, level + 1);
    } else if (link === undefined && unpacked !== true) {
      const start = dataStart + Number(offset);
      const end = start + Number(size);
      const isInFile =
        typeof offset === 'string' && /^\d{1,15}$/.test(offset) && Number.isSafeInteger(size) && end >= start;
      if (!isInFile || end > fileSize) throw malformed(`it does not contain the data of ${path.slice(1)}`);
      files.push({ name: path.slice(1), start, end });
    }
  };
  visit(readList(text), '', 0);
  return files;
}

function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw malformed(`its list has no object for ${path.slice(1) || 'the whole'}`);
}

function readList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw malformed('its list of files is not JSON', thrown);
  }
}

function malformed(problem: string, cause?: unknown) {
  return bytesErrors('file-malformed', { what: 'the Electron archive', problem }, { cause });
}
