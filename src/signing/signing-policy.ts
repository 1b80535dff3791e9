import type { ByteSource } from '../bytes/byte-source.ts';
import { checkPurpose, purposeWarnings } from '../certificates/signing-chain.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import { identityAt, identityOf } from '../files/input-file.ts';
import { formatErrors } from '../format/errors.ts';
import { type Format, requireCapability, signingOf } from '../format/format.ts';
import type { FormatOption } from '../format/options.ts';
import type { SignableFile, Signing, SigningContext, SigningMode } from '../format/signable-file.ts';
import type { RecordedInside } from '../journal/journal.ts';
import type { ExistingSignatures } from '../options/resolve.ts';
import { signingErrors } from './errors.ts';
import {
  type FindWritten,
  hasIntact,
  isBy,
  isByOtherThan,
  requireUnbroken,
  signerNames,
} from './existing-signatures.ts';
import { innerPackages } from './files/contained.ts';
import { filesToSign, type InnerFiles } from './files/inner-files.ts';
import type { FileToSign } from './outcome.ts';
import { type Intent, type Planned, type RecognisedFile, WITHOUT_SIGNATURE } from './planned-file.ts';
import type { Run } from './run.ts';

export interface SigningPolicy {
  readonly existing: ExistingSignatures | undefined;
  /** False if the digest algorithm is a default. An algorithm that the file requires replaces a default. */
  readonly isAlgorithmGiven: boolean;
  readonly allOrNothing: boolean;
  readonly maxSignatures?: number | undefined;
  readonly repeatUnknown?: number | undefined;
  readonly report: boolean;
  readonly auditLog?: string | undefined;
  readonly inside?: Inside | undefined;
}

/** Signs the files inside containers too (`--inside`). */
export interface Inside {
  /** Formats that cannot be signed, but contain files that can be signed. */
  readonly containers: readonly Format[];
  /** Reads all files inside. Throws if one of them cannot be signed. */
  plan(
    opened: SignableFile,
    source: ByteSource,
    file: RecognisedFile,
    planning: PlanningInside,
  ): Promise<PlannedInside>;
  /** Options that `resume` needs to create the same plan. */
  readonly recorded: RecordedInside;
}

export interface PlanningInside {
  readonly context: SigningContext;
  readonly policy: SigningPolicy;
  readonly digestEntries: Run['digestEntries'];
  readonly findWritten: FindWritten | undefined;
}

export interface PlannedInside extends InnerFiles {
  readonly warnings: readonly string[];
  /** False if the policy says that the file itself is not signed. */
  readonly isToSign: boolean;
}

function requireAlgorithm(
  { fixedAlgorithm }: Pick<Signing, 'fixedAlgorithm'>,
  algorithm: DigestAlgorithm,
  isGiven: boolean,
): DigestAlgorithm {
  if (fixedAlgorithm === undefined || fixedAlgorithm.algorithm === algorithm) return algorithm;
  const { algorithm: required, reason } = fixedAlgorithm;
  if (isGiven) throw formatErrors('algorithm-differs', { required, algorithm, reason });
  return required;
}

export function modeAndContext(
  opened: Pick<Signing, 'fixedAlgorithm'>,
  format: Format,
  given: SigningContext,
  { existing, isAlgorithmGiven }: SigningPolicy,
): { readonly mode: SigningMode; readonly context: SigningContext } {
  const algorithm = requireAlgorithm(opened, given.algorithm, isAlgorithmGiven);
  const { modes } = requireCapability(format.signing, 'signed', format);
  const mode = existing === 'replace' || existing === 'append' ? existing : modes[0];
  if (modes.includes(mode)) return { mode, context: { ...given, algorithm } };
  if (mode === 'replace') throw formatErrors('cannot-replace', { format: format.title });
  throw formatErrors('cannot-append', { reason: `files of this format contain one signature (${format.title})` });
}

/** Throws if the file cannot be signed. `findWritten` finds a signature that a killed run wrote to the file. */
export async function decideSigning(
  opened: SignableFile,
  format: Format,
  given: SigningContext,
  policy: SigningPolicy,
  run: Pick<Run, 'digestEntries'>,
  findWritten?: FindWritten,
  inside?: PlannedInside,
): Promise<Intent> {
  const { existing, allOrNothing } = policy;
  const signing = signingOf(opened, format);
  const { mode, context } = modeAndContext(signing, format, given, policy);
  const { leaf } = context.chain;
  checkPurpose(leaf, [format.purpose]);
  const signatures = await opened.signatures();
  const warnings = purposeWarnings(leaf, format.purpose);
  const written = mode === 'append' ? await findWritten?.(signatures, context) : undefined;
  if (written !== undefined) {
    return { ...WITHOUT_SIGNATURE, warnings, skipped: undefined, written, contained: inside };
  }
  const skips = existing === 'skip' || existing === 'skip-any';
  if (skips && (await hasIntact(opened, signatures, existing === 'skip' ? isBy(leaf) : () => true))) {
    return { ...WITHOUT_SIGNATURE, warnings, skipped: 'already-signed' };
  }
  const preview = await signing.check(context, mode);
  const { mustBeNamed } = preview;
  if (mustBeNamed !== undefined && existing !== 'replace') throw formatErrors('signatures-kept', { what: mustBeNamed });
  const staying = signatures.filter((signature) => !preview.replaces(signature));
  await requireUnbroken(opened, staying, format);
  const contained = inside?.toChange.length ? inside : await innerPackages(opened, context, format, run, findWritten);
  checkAlgorithms(contained, given, policy);
  // Only preparation finds damaged content, and content that no longer matches a signature.
  if (allOrNothing) await signing.prepare(context, mode);
  const replaced = signerNames(signatures.filter((signature) => preview.replaces(signature)));
  return {
    skipped: undefined,
    warnings: [...preview.warnings, ...warnings, ...(inside?.warnings ?? [])],
    signatures: preview.requests + filesToSign(contained.toChange).length,
    replaced,
    contained,
  };
}

function checkAlgorithms(
  { toChange }: InnerFiles,
  { algorithm }: SigningContext,
  { isAlgorithmGiven }: SigningPolicy,
): void {
  for (const file of filesToSign(toChange)) requireAlgorithm(file, algorithm, isAlgorithmGiven);
}

/** Decides about a file in which only inner files are signed. */
export function decideContents(inside: PlannedInside, given: SigningContext, policy: SigningPolicy): Intent {
  const { toChange, kept, recorded, warnings, isToSign } = inside;
  checkAlgorithms(inside, given, policy);
  const signatures = filesToSign(toChange).length;
  const plan = { ...WITHOUT_SIGNATURE, warnings, signatures, contained: inside, isContainerOnly: true } as const;
  if (toChange.length + recorded.length > 0) return { ...plan, skipped: undefined };
  return { ...plan, skipped: kept.length > 0 ? 'already-signed' : isToSign ? 'nothing-to-sign' : 'exempt' };
}

/** The signature of another publisher is kept if the user did not name the file. */
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

/** Counts every file, although some files may use the same signature, or one from the journal. */
export function checkSignatureLimit(files: readonly Planned[], { maxSignatures }: SigningPolicy): void {
  const count = countSignatures(files);
  if (maxSignatures !== undefined && count > maxSignatures) {
    throw signingErrors('too-many-signatures', { count, limit: maxSignatures });
  }
}

/** A line in the log would damage the file, and the file would replace the log. */
export function checkAuditLog(files: readonly Planned[], { auditLog: path }: SigningPolicy): void {
  const log = path === undefined ? undefined : identityAt(path);
  if (path === undefined || log === undefined) return;
  const isLog = (file: Planned): boolean =>
    'plan' in file && (identityOf(file.plan.stats) === log || identityAt(file.plan.target) === log);
  if (files.some(isLog)) throw signingErrors('audit-log-conflict', { path });
}

/** Number of requests with an unknown outcome that may be retried within the limit of signatures. */
export function allowedRepetitions(
  files: readonly Planned[],
  { maxSignatures = Number.POSITIVE_INFINITY, repeatUnknown = 0 }: SigningPolicy,
): number {
  return Math.min(repeatUnknown, maxSignatures - countSignatures(files));
}

export function countSignatures(files: readonly Planned[]): number {
  return files.reduce((sum, file) => sum + ('plan' in file ? file.plan.signatures : 0), 0);
}

/** An option may affect a file whose format is unknown. */
export function unusedOptions(
  options: readonly FormatOption[],
  planned: readonly Planned[],
  formats: readonly Format[],
): readonly CodesignError[] {
  const unused = options.filter((option) => !planned.some((one) => mayAffect(option, one, formats)));
  return unused.map((option) => {
    const titles = formats.filter(({ signing }) => signing?.options.includes(option)).map(({ title }) => title);
    return signingErrors('option-unused', { option: option.flag, files: option.appliesTo ?? titles.join(', ') });
  });
}

function mayAffect(option: FormatOption, one: Planned, formats: readonly Format[]): boolean {
  if ('plan' in one)
    return one.plan.format.signing?.options.includes(option) === true && !one.plan.unusedOptions.includes(option);
  if (one.format === null) return one.error.code !== 'unsupported-format';
  return formats.some(({ id, signing }) => id === one.format && signing?.options.includes(option));
}
