/** Signs or changes the files in a container before the container itself, at any depth. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { patchedSource } from '../../bytes/patched-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { formatErrors } from '../../format/errors.ts';
import { type Format, signingOf } from '../../format/format.ts';
import { INNER_PACKAGES, isGiven } from '../../format/options.ts';
import type { Embedding, Expected, SignableFile, Signing, SigningContext } from '../../format/signable-file.ts';
import { contentReader } from '../../formats/recognise.ts';
import type { FindWritten } from '../existing-signatures.ts';
import type { Run } from '../run.ts';
import { type InnerFile, type InnerFiles, innerName, NOTHING_INSIDE, type RecordedInner } from './inner-files.ts';

/** Lists the packages in a bundle, which have the format of the bundle. */
export async function innerPackages(
  { contents }: SignableFile,
  context: SigningContext,
  format: Format,
  run: Pick<Run, 'digestEntries'>,
  findWritten?: FindWritten,
): Promise<InnerFiles> {
  const changing = contents?.changing;
  if (changing === undefined || !isGiven(context.formatOptions, INNER_PACKAGES)) return NOTHING_INSIDE;
  const toChange: InnerFile[] = [];
  const recorded: RecordedInner[] = [];
  const kept: InnerFile[] = [];
  for await (const { name, size, open } of changing.entries()) {
    const opened = await format.open(await open(), contentReader(run.digestEntries), name);
    const signatures = await opened.signatures();
    const { fixedAlgorithm } = signingOf(opened, format);
    const file = { names: [name], size, format, fixedAlgorithm, inside: [] };
    if (signatures.length === 0) toChange.push({ ...file, isToSign: true });
    else kept.push({ ...file, isToSign: false });
    const written = await findWritten?.(signatures, contextFor(file, context));
    if (written !== undefined) recorded.push({ ...file, written });
  }
  return { toChange, kept, recorded };
}

export function contextFor({ fixedAlgorithm }: Pick<Signing, 'fixedAlgorithm'>, context: SigningContext) {
  return { ...context, algorithm: fixedAlgorithm?.algorithm ?? context.algorithm };
}

/** Called after the files inside the file have changed. */
type SignInner = (file: InnerFile, signing: Signing) => Promise<Embedding>;

/** Returns the edits that replace the files in a container, innermost files first. */
export async function changeContents(
  { contents }: SignableFile,
  files: readonly InnerFile[],
  sign: SignInner,
  run: Pick<Run, 'digestEntries'>,
): Promise<Patch> {
  const changing = contents?.changing;
  if (changing === undefined) throw new TypeError('only files in a container can be changed');
  const byName = new Map(files.map((file) => [file.names.at(-1), file]));
  const patches = new Map<string, Patch>();
  for await (const { name, open } of changing.entries()) {
    const file = byName.get(name);
    if (file !== undefined) patches.set(name, await changeFile(await open(), file, sign, run));
  }
  if (patches.size < byName.size) throw formatErrors('result-damaged', { reason: 'a file in it is missing' });
  return await changing.write(patches);
}

async function changeFile(
  source: ByteSource,
  file: InnerFile,
  sign: SignInner,
  run: Pick<Run, 'digestEntries'>,
): Promise<Patch> {
  const { format, inside, isToSign } = file;
  const opened = await openInner(source, file, run);
  if (inside.length === 0) return (await sign(file, signingOf(opened, format))).patch;
  const patch = await changeContents(opened, inside, sign, run);
  if (!isToSign) return patch;
  const changed = patchedSource(source, patch);
  const whole = await openInner(changed, file, run);
  return changed.compose((await sign(file, signingOf(whole, format))).patch);
}

export function openInner(
  source: ByteSource,
  { names, format }: Pick<InnerFile, 'names' | 'format'>,
  { digestEntries }: Pick<Run, 'digestEntries'>,
): Promise<SignableFile> {
  return format.open(source, contentReader(digestEntries), names.at(-1) ?? '');
}

/** Checks the signatures in a container that was opened again. The keys of `expected` are the names of its files. */
export async function verifyContents(
  { contents }: SignableFile,
  files: readonly InnerFile[],
  expected: ReadonlyMap<string, Expected>,
  run: Pick<Run, 'digestEntries'>,
): Promise<void> {
  if (files.length === 0) return;
  const missing = new Map(files.map((file) => [file.names.at(-1), file]));
  for await (const { name, open } of contents?.changing?.entries() ?? []) {
    const file = missing.get(name);
    if (file === undefined) continue;
    const opened = await openInner(await open(), file, run);
    const wanted = expected.get(innerName(file));
    if (wanted !== undefined) await signingOf(opened, file.format).verify(wanted);
    await verifyContents(opened, file.inside, expected, run);
    missing.delete(name);
  }
  if (missing.size > 0) throw formatErrors('result-damaged', { reason: 'a file in it is missing' });
}
