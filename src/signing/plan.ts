/** The pre-flight of one file: everything that can be known before a signature is asked for. */

import type { BigIntStats } from 'node:fs';
import { access, constants, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { measureContent } from '../crypto/measure-content.ts';
import type { EmbeddedSignature, Format, SigningMode } from '../formats/format.ts';
import { signingErrors } from './errors.ts';
import { inFileSystem } from './file-system-errors.ts';
import { openInput } from './input-file.ts';
import type { FileToSign } from './outcome.ts';
import type { Signing } from './signing.ts';

const HEAD_LENGTH = 4096;

export interface PlannedFile extends FileToSign {
  readonly format: Format;
  readonly mode: SigningMode;
  /** The input as it was judged; a file that has changed since is not signed. */
  readonly stats: BigIntStats;
  /** Where the result is written: links followed, so that a rename replaces the file and not the link. */
  readonly target: string;
  /** Signers whose signatures the new one replaces. */
  readonly replaced: readonly string[];
  readonly warnings: readonly string[];
  /** Set when the file is to be left alone because it already carries this certificate's intact signature. */
  readonly alreadySigned: boolean;
}

/** Opens, recognises and judges the file; throws what makes it unfit. Nothing stays open. */
export async function planFile(file: FileToSign, signing: Signing): Promise<PlannedFile> {
  await using input = await openInput(file.path);
  const format = await recognise(input.source, signing);
  const opened = await format.open(input.source, { measure: measureContent });
  const signatures = await opened.signatures();
  const alreadySigned = signing.existing === 'skip' && (await isSignedBy(signatures, signing.chain.leaf.der));
  const mode: SigningMode = signing.existing === 'append' ? 'append' : 'replace';
  // Whether a signature can stand beside those that are there shows only while preparing.
  if (signing.allOrNothing && mode === 'append') await opened.prepare(signing, mode);
  const writes = !signing.dryRun && !alreadySigned;
  const target = writes ? await resolveTarget(file.output) : resolve(file.output);
  if (writes) await assertWritable(target);
  return {
    ...file,
    output: alreadySigned ? file.path : file.output,
    format,
    mode,
    stats: input.stats,
    target,
    replaced: mode === 'replace' && !alreadySigned ? signerNames(signatures) : [],
    warnings: opened.warnings,
    alreadySigned,
  };
}

async function recognise(source: ByteSource, { formats, describeBytes }: Signing): Promise<Format> {
  const head = await source.read(0, Math.min(HEAD_LENGTH, source.size));
  for (const format of formats) {
    if (await format.detect(head, source)) return format;
  }
  throw signingErrors('unsupported-format', {
    looksLike: describeBytes(head),
    formats: formats.map((format) => format.title).join(', '),
  });
}

async function isSignedBy(signatures: readonly EmbeddedSignature[], leaf: Uint8Array): Promise<boolean> {
  for (const signature of flatten(signatures)) {
    const { signerCertificate } = signature;
    if (signerCertificate && Buffer.compare(signerCertificate, leaf) === 0 && (await signature.isIntact())) return true;
  }
  return false;
}

/** Each signer once: a second signature with another algorithm is usually by the same one. */
function signerNames(signatures: readonly EmbeddedSignature[]): string[] {
  return [...new Set(flatten(signatures).map((signature) => signature.signerName))];
}

function flatten(signatures: readonly EmbeddedSignature[]): EmbeddedSignature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}

async function resolveTarget(output: string): Promise<string> {
  try {
    return await realpath(output);
  } catch {
    // A new file: its folder must be there, and may be a link.
    const folder = await inFileSystem('find the output folder', () => realpath(dirname(output)));
    return join(folder, basename(output));
  }
}

/** A rename would replace a read-only file all the same, even for root; signtool's users expect a refusal. */
async function assertWritable(target: string): Promise<void> {
  const existing = await stat(target).catch(() => undefined);
  if (existing?.isDirectory()) throw signingErrors('not-a-file', { kind: 'a folder' });
  if (existing && (existing.mode & 0o222) === 0) throw signingErrors('read-only-file');
  if (existing) await inFileSystem('write to the file', () => access(target, constants.W_OK));
  await inFileSystem('write to its folder', () => access(dirname(target), constants.W_OK));
}
