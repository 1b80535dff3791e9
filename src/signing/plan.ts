/** The pre-flight of one file: everything that can be known before a signature is asked for. */

import type { ByteSource } from '../bytes/byte-source.ts';
import { speaksAgainst } from '../errors/finding.ts';
import { type FileStats, openInput } from '../files/input-file.ts';
import { contentReader } from '../formats/content-reader.ts';
import type {
  ContentReader,
  EmbeddedSignature,
  Format,
  SignableFile,
  SigningContext,
  SigningMode,
} from '../formats/format.ts';
import { recogniseFormat } from '../formats/recognise.ts';
import { tellBytesRead } from './bytes-read.ts';
import { assertReplaceable, resolveTarget } from './files/target.ts';
import type { FileToSign } from './outcome.ts';
import type { Signing } from './signing.ts';
import { contextOf } from './signing-context.ts';

/** A file that has been looked at, whatever is to be done with it. */
export interface JudgedFile extends FileToSign {
  readonly format: Format;
  /** The input as it was judged; a file that has changed since is left as it is. */
  readonly stats: FileStats;
  /** Where the result is written, absolute, links followed. */
  readonly target: string;
  readonly warnings: readonly string[];
  /** Opens the file, if it has not changed since it was judged. */
  open(source: ByteSource, reader: ContentReader): Promise<SignableFile>;
}

export interface PlannedFile extends JudgedFile {
  readonly mode: SigningMode;
  /** Signers whose signatures the new one replaces. */
  readonly replaced: readonly string[];
  /** Set when the file is to be left alone because it already carries this certificate's intact signature. */
  readonly alreadySigned: boolean;
}

export interface PlanOptions {
  /** Hears of the format as soon as it is known, of a file that then proves unfit too. */
  onFormat(format: Format): void;
  /** Whether what was read of the file is kept until it is changed: memory for time. */
  readonly keepLayout: boolean;
}

/**
 * Opens, recognises and judges the file; throws what makes it unfit. Nothing stays open.
 */
export async function planFile(
  file: FileToSign,
  signing: Signing,
  { onFormat, keepLayout }: PlanOptions,
): Promise<PlannedFile> {
  await using input = await openInput(file.path, tellBytesRead(file.path, signing.onEvent));
  const format = await recogniseFormat(input.source, [file.output, file.path], signing);
  onFormat(format);
  const opened = await format.open(input.source, contentReader(signing.digestEntries), file.output);
  const signatures = await opened.signatures();
  const alreadySigned = signing.existing === 'skip' && (await isIntactBy(opened, signatures, signing.chain.leaf.der));
  const context = contextOf(signing);
  const mode = modeOf(format, signing);
  if (!alreadySigned) await opened.check(context, mode);
  // Some things show only while preparing: contents that are damaged, or are no longer what a signature is about.
  if (signing.allOrNothing && !alreadySigned) await opened.prepare(context, mode);
  const target = await resolveTarget(file.output);
  if (!alreadySigned) await assertReplaceable(target);
  return {
    ...file,
    output: alreadySigned ? file.path : file.output,
    format,
    mode,
    stats: input.stats,
    target,
    replaced: alreadySigned ? [] : signerNames(mode === 'replace' ? signatures : await displacedIn(opened, context)),
    warnings: [...opened.warnings, ...hardLinkWarnings(file, input.stats)],
    alreadySigned,
    open: openAgain(format, file.output, keepLayout ? opened : undefined),
  };
}

function modeOf({ defaultMode }: Format, { existing }: Signing): SigningMode {
  return existing === undefined || existing === 'skip' ? defaultMode : existing;
}

async function displacedIn(opened: SignableFile, context: SigningContext): Promise<readonly EmbeddedSignature[]> {
  return (await opened.displaced?.(context)) ?? [];
}

/**
 * `opened`: what was read already. It is let go when it has been used once: by the time the result is checked, it would only
 * be in the way.
 */
export function openAgain(format: Format, name: string, opened: SignableFile | undefined): JudgedFile['open'] {
  let kept = opened;
  return async (source, reader) => {
    const file = kept?.reopen(source, reader) ?? (await format.open(source, reader, name));
    kept = undefined;
    return file;
  };
}

/** A signature in a file that `verify` rejects as a whole is not intact either. */
async function isIntactBy(
  opened: SignableFile,
  signatures: readonly EmbeddedSignature[],
  leaf: Uint8Array,
): Promise<boolean> {
  return (await isSignedBy(signatures, leaf)) && !speaksAgainst(await opened.examine(), 'integrity');
}

async function isSignedBy(signatures: readonly EmbeddedSignature[], leaf: Uint8Array): Promise<boolean> {
  for (const signature of flatten(signatures)) {
    const { signerCertificate } = signature;
    if (signerCertificate === undefined || Buffer.compare(signerCertificate, leaf) !== 0) continue;
    if (!speaksAgainst(await signature.examine(), 'integrity')) return true;
  }
  return false;
}

/** Each signer once: a second signature with another algorithm is usually by the same one. */
export function signerNames(signatures: readonly EmbeddedSignature[]): string[] {
  return [...new Set(flatten(signatures).map((signature) => signature.signerName))];
}

/** With the nested ones, each behind the one that it is in. */
export function flatten(signatures: readonly EmbeddedSignature[]): EmbeddedSignature[] {
  return signatures.flatMap((signature) => [signature, ...flatten(signature.nested)]);
}

export function hardLinkWarnings({ path, output }: FileToSign, { nlink }: FileStats): string[] {
  if (path !== output || nlink <= 1n) return [];
  return [
    `The file has ${nlink} names (hard links): only this one will lead to the new file, the others keep the old content.`,
  ];
}
