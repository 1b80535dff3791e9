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
import { Lines, type LinesOptions } from '../output/lines.ts';

/** Returns the exit code. */
export async function inspect(path: string, options: OptionsOf<'inspect'>, io: Io): Promise<number> {
  try {
    return await show(path, options, io);
  } catch (thrown) {
    return failOne(path, thrown, options, io);
  }
}

async function show(path: string, options: OptionsOf<'inspect'>, io: Io): Promise<number> {
  const file = await read(path, options, io);
  if (options.certificates) {
    const text = certificatesPem(file);
    if (text === '') new Lines(io, options).warning(`${path}: contains no certificate`);
    io.stdout.write(text);
  } else if (options.json) {
    io.stdout.write(jsonText(inspectJson(file)));
  } else if (!options.quiet) {
    io.stdout.write(inspectText(file));
  }
  return 0;
}

function read(path: string, options: LinesOptions, io: Io): Promise<InspectedFile> {
  return withProgress({ doing: 'reading', done: 'read' }, options, io, (progress) => {
    const onRead: Reading['onRead'] = (_path, bytes, size) => progress.event({ type: 'bytes-read', path, bytes, size });
    return inspectFile(path, { ...composeReading(), onRead });
  });
}
