/** What the user allows `sign` to do: to a file that is signed already, and with how many signatures. */

import { checkPurpose, purposeWarnings } from '../certificates/signing-chain.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { formatErrors } from '../format/errors.ts';
import type { Format } from '../format/format.ts';
import type { FormatOption } from '../format/options.ts';
import type { SignableFile, SigningContext, SigningMode } from '../format/signable-file.ts';
import type { ExistingSignatures } from '../options/commands/sign.ts';
import { signingErrors } from './errors.ts';
import {
  type FindWritten,
  hasIntact,
  isBy,
  isByOtherThan,
  requireUnbroken,
  signerNames,
} from './existing-signatures.ts';
import type { FileToSign } from './outcome.ts';
import { type Intent, type Planned, WITHOUT_SIGNATURE } from './planned-file.ts';

export interface SigningPolicy {
  /** Undefined for the default mode of each format. */
  readonly existing: ExistingSignatures | undefined;
  /** Whether the user chose the digest algorithm; one that is only the default gives way to that of a file. */
  readonly isAlgorithmGiven: boolean;
  /** Waste no signature when any file is unfit. */
  readonly allOrNothing: boolean;
  /** A run that might request more signatures is rejected; undefined for no limit. */
  readonly maxSignatures?: number | undefined;
  /** Requests whose outcome is unknown that may be sent once more; undefined for none. */
  readonly repeatUnknown?: number | undefined;
  readonly report: boolean;
}

/** Throws `cannot-append`, `cannot-replace` for a mode that the format does not have. */
function requireMode({ modes, title }: Pick<Format, 'title' | 'modes'>, mode: SigningMode): void {
  if (modes.includes(mode)) return;
  if (mode === 'replace') throw formatErrors('cannot-replace', { format: title });
  throw formatErrors('cannot-append', { reason: `files of this format hold one signature (${title})` });
}

/** Throws `algorithm-differs` for a given algorithm that is not the file's. A default gives way. */
function requireAlgorithm(
  { fixedAlgorithm }: Pick<SignableFile, 'fixedAlgorithm'>,
  algorithm: DigestAlgorithm,
  isGiven: boolean,
): DigestAlgorithm {
  if (fixedAlgorithm === undefined || fixedAlgorithm.algorithm === algorithm) return algorithm;
  const { algorithm: required, reason } = fixedAlgorithm;
  if (isGiven) throw formatErrors('algorithm-differs', { required, algorithm, reason });
  return required;
}

type SigningFormat = Pick<Format, 'title' | 'modes' | 'defaultMode' | 'appendWarning' | 'purpose'>;

/** How the file is signed. Throws `algorithm-differs`, `cannot-append`, `cannot-replace`. */
export function modeAndContext(
  opened: Pick<SignableFile, 'fixedAlgorithm'>,
  format: SigningFormat,
  given: SigningContext,
  { existing, isAlgorithmGiven }: SigningPolicy,
): { readonly mode: SigningMode; readonly context: SigningContext } {
  const algorithm = requireAlgorithm(opened, given.algorithm, isAlgorithmGiven);
  const mode = existing === 'replace' || existing === 'append' ? existing : format.defaultMode;
  requireMode(format, mode);
  return { mode, context: { ...given, algorithm } };
}

/**
 * Throws what makes the signature impossible. A file that carries an intact signature of this certificate is skipped if the
 * policy says so. `findWritten`: finds a signature that an earlier run of the same work put into the file.
 */
export async function decideSigning(
  opened: SignableFile,
  format: SigningFormat,
  given: SigningContext,
  policy: SigningPolicy,
  findWritten?: FindWritten,
): Promise<Intent> {
  const { existing, allOrNothing, isAlgorithmGiven } = policy;
  const { mode, context } = modeAndContext(opened, format, given, policy);
  const { leaf } = context.chain;
  checkPurpose(leaf, [format.purpose]);
  const signatures = await opened.signatures();
  const isSecond = mode === 'append' && signatures.length > 0 && format.appendWarning !== undefined;
  const warnings = [
    ...opened.warnings,
    ...purposeWarnings(leaf, format.purpose),
    ...(isSecond ? [format.appendWarning] : []),
  ];
  const written = mode === 'append' ? await findWritten?.(signatures, context) : undefined;
  if (written !== undefined) {
    return { ...WITHOUT_SIGNATURE, warnings, skipped: undefined, written };
  }
  const skips = existing === 'skip' || existing === 'skip-any';
  if (skips && (await hasIntact(opened, signatures, existing === 'skip' ? isBy(leaf) : () => true))) {
    return { ...WITHOUT_SIGNATURE, warnings, skipped: 'already-signed' };
  }
  const kept = existing !== 'replace' && mode === 'replace' ? await opened.needsExplicitReplace?.() : undefined;
  if (kept !== undefined) throw formatErrors('signatures-kept', { what: kept });
  await opened.check(context, mode);
  const displaced = mode === 'replace' ? signatures : ((await opened.displaced?.(context)) ?? []);
  const places = new Set(displaced.map(({ location }) => location));
  await requireUnbroken(
    signatures.filter(({ location }) => !places.has(location)),
    format,
  );
  const inner = (await opened.inner?.(context)) ?? { files: [], kept: [], warnings: [] };
  for (const file of inner.files) requireAlgorithm(file, given.algorithm, isAlgorithmGiven);
  // Some things show only while preparing: contents that are damaged, or are no longer what a signature is about.
  if (allOrNothing) await opened.prepare(context, mode);
  const replaced = signerNames(displaced);
  return {
    skipped: undefined,
    warnings: [...warnings, ...inner.warnings],
    signatures: 1 + inner.files.length,
    replaced,
  };
}

/** Whether a file that the user did not name itself stays as it is, because another publisher signed it. */
export async function isKeptForOthers(
  opened: SignableFile,
  { isFound }: FileToSign,
  { chain }: Pick<SigningContext, 'chain'>,
  { existing }: SigningPolicy,
): Promise<boolean> {
  if (!isFound || (existing !== undefined && existing !== 'skip')) return false;
  const signatures = await opened.signatures();
  if (existing === 'skip' && (await hasIntact(opened, signatures, isBy(chain.leaf)))) return false;
  return await hasIntact(opened, signatures, isByOtherThan(chain.leaf));
}

/** Throws `too-many-signatures`. Only later is it known which files share a signature or have one in the journal. */
export function checkSignatureLimit(files: readonly Planned[], { maxSignatures }: SigningPolicy): void {
  const count = countSignatures(files);
  if (maxSignatures !== undefined && count > maxSignatures) {
    throw signingErrors('too-many-signatures', { count, limit: maxSignatures });
  }
}

/** How many requests may be sent once more: what the limit of signatures leaves at most. */
export function allowedRepetitions(
  files: readonly Planned[],
  { maxSignatures = Number.POSITIVE_INFINITY, repeatUnknown = 0 }: SigningPolicy,
): number {
  return Math.min(repeatUnknown, maxSignatures - countSignatures(files));
}

export function countSignatures(files: readonly Planned[]): number {
  return files.reduce((sum, file) => sum + ('plan' in file ? file.plan.signatures : 0), 0);
}

/**
 * An `option-unused` for each of these options that affects no file of the run. A file of an unknown format counts as one
 * that every option affects.
 */
export function unusedOptions(
  options: readonly FormatOption[],
  planned: readonly Planned[],
  formats: readonly Format[],
): readonly CodesignError[] {
  const unused = options.filter((option) => !planned.some((one) => mayAffect(option, one, formats)));
  return unused.map((option) => {
    const titles = formats.filter(({ options: declared }) => declared.includes(option)).map(({ title }) => title);
    return signingErrors('option-unused', { option: option.flag, files: option.appliesTo ?? titles.join(', ') });
  });
}

function mayAffect(option: FormatOption, one: Planned, formats: readonly Format[]): boolean {
  if ('plan' in one) return one.plan.format.options.includes(option) && !one.plan.unusedOptions.includes(option);
  if (one.format === null) return one.error.code !== 'unsupported-format';
  return formats.some(({ id, options }) => id === one.format && options.includes(option));
}
