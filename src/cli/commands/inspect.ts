/** `codesign-remote inspect`: what a file's signatures hold, as text, as a document, or their certificates alone. */

import { composeReading } from '../../app/compose-reading.ts';
import { inspectFile } from '../../verifying/inspect-file.ts';
import { failOne } from '../fail.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../json.ts';
import { Lines } from '../lines.ts';
import { inspectJson } from '../render/inspect-json.ts';
import { inspectText } from '../render/inspect-text.ts';
import { certificatesPem } from '../render/pem.ts';

export interface InspectCommandOptions {
  readonly certificates?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Gives the exit code. */
export async function inspect(path: string, options: InspectCommandOptions, io: Io): Promise<number> {
  try {
    return await show(path, options, io);
  } catch (thrown) {
    return failOne(path, thrown, options, io);
  }
}

/** Throws what keeps the file from being read. */
async function show(path: string, options: InspectCommandOptions, io: Io): Promise<number> {
  const { certificates = false, json = false, quiet = false, verbose = false } = options;
  const file = await inspectFile(path, composeReading());
  if (certificates) {
    const text = certificatesPem(file);
    if (text === '') new Lines(io, { quiet, verbose, json }).warning(`${path}: holds no certificate`);
    io.stdout.write(text);
  } else if (json) {
    io.stdout.write(jsonText(inspectJson(file)));
  } else if (!quiet) {
    io.stdout.write(inspectText(file));
  }
  return 0;
}
