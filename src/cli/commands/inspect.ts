/** `codesign-remote inspect`: prints the content of a file's signatures, as text or JSON, or only their certificates. */

import { composeReading } from '../../app/compose-local.ts';
import type { OptionsOf } from '../../options/table.ts';
import { type InspectedFile, inspectFile } from '../../verifying/inspect-file.ts';
import type { Reading } from '../../verifying/verify-file.ts';
import { withProgress } from '../interruption.ts';
import type { Io } from '../io.ts';
import { failOne } from '../output/fail.ts';
import { certificatesPem, inspectJson } from '../output/inspect/inspect-documents.ts';
import { inspectText } from '../output/inspect/inspect-text.ts';
import { jsonText } from '../output/json.ts';
import { Lines } from '../output/lines.ts';
import type { ProgressOptions } from '../output/progress/progress.ts';

/** Returns the exit code. */
export async function inspect(path: string, options: OptionsOf<'inspect'>, io: Io): Promise<number> {
  try {
    return await show(path, options, io);
  } catch (thrown) {
    return failOne(path, thrown, options, io);
  }
}

async function show(path: string, options: OptionsOf<'inspect'>, io: Io): Promise<number> {
  const { certificates = false, json = false, quiet = false, verbose = false } = options;
  const file = await read(path, { quiet, json, verbose }, io);
  if (certificates) {
    const text = certificatesPem(file);
    if (text === '') new Lines(io, { quiet, verbose, json }).warning(`${path}: contains no certificate`);
    io.stdout.write(text);
  } else if (json) {
    io.stdout.write(jsonText(inspectJson(file)));
  } else if (!quiet) {
    io.stdout.write(inspectText(file));
  }
  return 0;
}

function read(path: string, options: ProgressOptions, io: Io): Promise<InspectedFile> {
  return withProgress({ doing: 'reading', done: 'read' }, options, io, (progress) => {
    const onRead: Reading['onRead'] = (_path, bytes, size) => progress.event({ type: 'bytes-read', path, bytes, size });
    return inspectFile(path, { ...composeReading(), onRead });
  });
}
