/** Opening a file again that has been judged before. */

import { type InputFile, openInput } from '../../files/input-file.ts';
import { tellBytesRead } from '../bytes-read.ts';
import type { BytesRead } from '../outcome.ts';
import type { JudgedFile } from '../plan.ts';
import { assertSame } from './same-file.ts';

/** Throws `file-changed` unless it is as it was when it was judged. */
export async function openJudged(
  { path, stats }: JudgedFile,
  { onEvent }: { readonly onEvent: (event: BytesRead) => void },
): Promise<InputFile> {
  const input = await openInput(path, tellBytesRead(path, onEvent));
  try {
    assertSame(stats, input.stats);
    return input;
  } catch (thrown) {
    await input.close();
    throw thrown;
  }
}
