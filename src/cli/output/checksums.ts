import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { openToRead } from '../../bytes/read-file.ts';
import { sha256Of } from '../../crypto/measure-content.ts';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { fromFileSystem, inFileSystem } from '../../files/file-system-errors.ts';
import { identityAt, openInput } from '../../files/input-file.ts';
import { findSamePaths } from '../../signing/files/same-path.ts';
import { assertReplaceable, resolveTarget } from '../../signing/files/target.ts';
import type { FileOutcome, FileToSign } from '../../signing/outcome.ts';
import { cliErrors } from '../errors.ts';
import { type InputPath, realPathOf } from '../input/inputs.ts';
import { writeOutput } from './write-output.ts';

/** Before anything is sent, checks that the checksum file can be written and would not replace other data. */
export async function checkChecksums(path: string, files: readonly FileToSign[]): Promise<void> {
  const target = await resolveTarget(path);
  const there = identityAt(target);
  for (const { path: input, output } of files) {
    const result = await resolveTarget(output).catch(() => resolve(output));
    const isSame = result === target || findSamePaths([result, target]).size > 0;
    if (isSame || (there !== undefined && [input, output].some((one) => identityAt(one) === there))) {
      throw cliErrors('checksums-conflict', { path, file: output });
    }
  }
  await assertReplaceable(target);
  if (there !== undefined && !CHECKSUM_FILE.test(await startOf(target)))
    throw cliErrors('checksums-not-replaceable', { path });
}

export function withoutChecksums(inputs: readonly InputPath[], path: string): readonly InputPath[] {
  const own = identityAt(path);
  const others = inputs.filter((input) => own === undefined || !input.isFound || identityAt(input.path) !== own);
  if (others.length === 0) throw cliErrors('no-files');
  return others;
}

/** Matches the start of a line in the output of sha256sum, or an empty file. */
const CHECKSUM_FILE = /^$|^\\?[0-9a-f]{64} [ *]/;
/** Number of bytes to read: more than the digest at the start of a line needs. */
const START_LENGTH = 100;

async function startOf(path: string): Promise<string> {
  await using file = await inFileSystem(`read ${path}`, () => openToRead(path));
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(START_LENGTH), position: 0 });
  const start = buffer.toString('latin1', 0, bytesRead);
  return start;
}

/** Lists files that were signed, unchanged, skipped or kept. Returns an error that lists all other files. */
export async function writeChecksums(path: string, files: readonly FileOutcome[]): Promise<CodesignError | undefined> {
  const folder = realPathOf(dirname(path));
  const lines: string[] = [];
  const missing: string[] = [];
  for (const file of files) {
    const sha256 = await digestOf(file).catch((thrown) => toCodesignError(fromFileSystem(thrown, 'read the file')));
    if (typeof sha256 !== 'string') missing.push(file.path);
    else if ('output' in file) lines.push(checksumLine(sha256, nameFrom(folder, file.output)));
  }
  await writeOutput(path, Buffer.from(lines.join('')), {});
  if (missing.length === 0) return undefined;
  return cliErrors('checksums-incomplete', { path, files: missing.join(', ') });
}

async function digestOf(file: FileOutcome): Promise<string | undefined> {
  if ('sha256' in file) return file.sha256;
  if (file.status !== 'skipped') return undefined;
  await using input = await openInput(file.output);
  return await sha256Of(input.source);
}

function nameFrom(folder: string, path: string): string {
  const name = relative(folder, join(realPathOf(dirname(path)), basename(path)));
  const isOutside = name === '..' || name.startsWith(`..${sep}`) || resolve(name) === name;
  const portable = (isOutside ? resolve(path) : name).replaceAll(sep, '/');
  // sha256sum would read standard input for the name `-`.
  return portable === '-' ? './-' : portable;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };

/** sha256sum begins the line of an escaped name with a backslash. */
export function checksumLine(sha256: string, name: string): string {
  const escaped = name.replace(/[\\\n\r]/g, (character) => ESCAPES[character] ?? character);
  return `${escaped === name ? '' : '\\'}${sha256}  ${escaped}\n`;
}
