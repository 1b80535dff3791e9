/** The files in a container that must be signed before it, if the options request this. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { patchedSource } from '../../bytes/patched-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { formatErrors } from '../../format/errors.ts';
import { type Format, signingOf } from '../../format/format.ts';
import { INNER_PACKAGES, isGiven } from '../../format/options.ts';
import type { ContainedFile, Expected, SignableFile, Signing, SigningContext } from '../../format/signable-file.ts';
import { contentReader } from '../../formats/recognise.ts';
import type { Run } from '../run.ts';

export interface ContainedToSign extends ContainedFile, Pick<Signing, 'fixedAlgorithm'> {}

/** `kept`: files in the container that are already signed and are not changed. */
export async function containedFiles(
  { contents }: SignableFile,
  { formatOptions }: Pick<SigningContext, 'formatOptions'>,
  format: Format,
  run: Pick<Run, 'digestEntries'>,
) {
  const toSign: ContainedToSign[] = [];
  const kept: ContainedToSign[] = [];
  const changing = contents?.changing;
  if (changing === undefined || !isGiven(formatOptions, INNER_PACKAGES)) return { toSign, kept };
  for await (const file of changing.entries()) {
    const opened = await openContained(file, format, run);
    const isSigned = (await opened.signatures()).length > 0;
    (isSigned ? kept : toSign).push({ ...file, fixedAlgorithm: opened.signing?.fixedAlgorithm });
  }
  return { toSign, kept };
}

/** Opens a file that is in a container of the same format. */
export async function openContained(
  { name, open }: ContainedFile,
  format: Format,
  { digestEntries }: Pick<Run, 'digestEntries'>,
): Promise<SignableFile> {
  return await format.open(await open(), contentReader(digestEntries), name);
}

/** If the algorithm is a default, the algorithm of the file is used instead. */
export function contextFor({ fixedAlgorithm }: ContainedToSign, context: SigningContext): SigningContext {
  return { ...context, algorithm: fixedAlgorithm?.algorithm ?? context.algorithm };
}

export async function prepareContained(
  file: ContainedToSign,
  context: SigningContext,
  format: Format,
  run: Pick<Run, 'digestEntries'>,
) {
  const signing = signingOf(await openContained(file, format, run), format);
  return await signing.prepare(contextFor(file, context), 'replace');
}

/** Returns the bytes of the container after the files in it have been edited. The edits are keyed by file name. */
export async function changeContents(
  { contents }: SignableFile,
  source: ByteSource,
  patches: ReadonlyMap<string, Patch>,
) {
  const changing = contents?.changing;
  if (changing === undefined) throw new TypeError('only files in a container can be changed');
  return patchedSource(source, await changing.write(patches));
}

/** Opens the result again and checks the signatures of the files in it, by name. Throws `result-damaged`. */
export async function verifyContained(
  { contents }: SignableFile,
  expected: ReadonlyMap<string, Expected>,
  format: Format,
  run: Pick<Run, 'digestEntries'>,
): Promise<void> {
  const missing = new Map(expected);
  if (missing.size === 0) return;
  for await (const file of contents?.changing?.entries() ?? []) {
    const wanted = missing.get(file.name);
    if (wanted === undefined) continue;
    await signingOf(await openContained(file, format, run), format).verify(wanted);
    missing.delete(file.name);
  }
  if (missing.size > 0) throw formatErrors('result-damaged', { reason: 'a file in it is missing' });
}
