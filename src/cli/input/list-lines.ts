/** Lists of paths, one on each line, read from a file or standard input within limits. */

import type { Readable } from 'node:stream';
import { openToRead } from '../../bytes/read-file.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { cliErrors } from '../errors.ts';

/** In bytes. No system allows longer paths: on Windows 32767 characters, each of 3 bytes at most. */
const LONGEST_LINE = 96 * 1024;
/** In bytes: enough for half a million paths of usual length. */
const LARGEST_LIST = 64 * 1024 * 1024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Throws `list-unreadable`, and what `readLines` throws. */
export async function readList(path: string): Promise<string[]> {
  try {
    await using file = await openToRead(path);
    return await readLines(file.createReadStream({ autoClose: false }));
  } catch (thrown) {
    if (thrown instanceof CodesignError) throw thrown;
    throw cliErrors('list-unreadable', { path, reason: systemReason(thrown) }, { cause: thrown });
  }
}

/**
 * Lines without line breaks and byte order mark; empty lines are dropped. Throws `list-unusable` for NUL characters, and
 * `list-too-large`. Both are thrown early, because the input may be endless.
 */
export async function readLines(input: Readable): Promise<string[]> {
  const chunks: Buffer[] = [];
  let length = 0;
  let lineLength = 0;
  for await (const read of input) {
    const chunk = Buffer.from(read);
    // Written by find -print0; no path contains one.
    if (chunk.includes(0)) throw cliErrors('list-unusable');
    chunks.push(chunk);
    length += chunk.length;
    lineLength = lengthOfLast(chunk, lineLength);
    if (lineLength > LONGEST_LINE)
      throw cliErrors('list-too-large', { what: `a line of more than ${LONGEST_LINE} bytes` });
    if (length > LARGEST_LIST) throw cliErrors('list-too-large', { what: `more than ${LARGEST_LIST} bytes` });
  }
  const text = Buffer.concat(chunks, length)
    .toString()
    .replace(/^\uFEFF/, '');
  return text.split(/\r\n|\n|\r/).filter((line) => line !== '');
}

/** Length of the line at the end of the chunk. `before`: its bytes in earlier chunks. */
function lengthOfLast(chunk: Buffer, before: number): number {
  const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN));
  return end < 0 ? before + chunk.length : chunk.length - 1 - end;
}
