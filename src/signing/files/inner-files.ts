import type { Format } from '../../format/format.ts';
import type { Signing } from '../../format/signable-file.ts';
import type { WrittenSignature } from '../existing-signatures.ts';
import type { InsideOutcome, PlannedPart, SignedPart } from '../outcome.ts';

export interface InnerFile {
  /** Names in the containers, from the outermost container down to this file. */
  readonly names: readonly string[];
  readonly size: number;
  readonly format: Format;
  /** False for a container that gets no signature, but whose contents change. */
  readonly isToSign: boolean;
  readonly fixedAlgorithm: Signing['fixedAlgorithm'];
  /** The files in this file that are signed or changed before it. */
  readonly inside: readonly InnerFile[];
}

export interface InnerFiles {
  readonly toChange: readonly InnerFile[];
  /** Signed files that do not change. */
  readonly kept: readonly Pick<InnerFile, 'names' | 'format'>[];
  /** Files that contain a signature which the journal has not recorded as written. */
  readonly recorded: readonly RecordedInner[];
}

export interface RecordedInner extends Pick<InnerFile, 'names' | 'size'> {
  readonly written: WrittenSignature;
}

export const NOTHING_INSIDE: InnerFiles = { toChange: [], kept: [], recorded: [] };

/** Identifies the file in the journal and in errors. */
export function innerName({ names }: Pick<InnerFile, 'names'>): string {
  return names.join('!/');
}

/** Lists the files to sign in the order of signing. */
export function filesToSign(files: readonly InnerFile[]): readonly InnerFile[] {
  return files.flatMap((file) => [...filesToSign(file.inside), ...(file.isToSign ? [file] : [])]);
}

/** `parts` are the signed or planned files inside the file, in their order. Lists the files that do not change last. */
export function outcomesInside(
  { path, contained = NOTHING_INSIDE }: { readonly path: string; readonly contained?: InnerFiles | undefined },
  parts: readonly (SignedPart | PlannedPart)[],
): readonly InsideOutcome[] {
  const { toChange, kept, recorded } = contained;
  const all = [...filesToSign(toChange), ...kept];
  const formats = new Map(all.map((file) => [innerName(file), file.format.id]));
  const unchanged = new Set(recorded.map(innerName));
  const outcomeOf = ({ name, ...part }: SignedPart | PlannedPart): InsideOutcome => {
    const common = { location: `${path}!/${name}`, format: formats.get(name) ?? null };
    if ('digest' in part) return { ...common, status: 'planned', ...part };
    return { ...common, status: unchanged.has(name) ? 'unchanged' : 'signed', ...part };
  };
  const left = kept.map(innerName).filter((name) => !unchanged.has(name));
  return [
    ...parts.map(outcomeOf),
    ...left.map((name): InsideOutcome => {
      return { location: `${path}!/${name}`, format: formats.get(name) ?? null, status: 'kept' };
    }),
  ];
}
