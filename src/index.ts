/** The entry point of the library, for build tools. */

import { relative } from 'node:path';
import { clockFromNow } from './app/clock.ts';
import { openTimestamping } from './app/compose-changes.ts';
import { composeNamed } from './app/compose-config.ts';
import { composeHistory } from './app/compose-history.ts';
import { composeInside } from './app/compose-inside.ts';
import { composeReading, openRun } from './app/compose-local.ts';
import { composeResume } from './app/compose-resume.ts';
import { openSigning } from './app/compose-signing.ts';
import { composeVerifying } from './app/compose-verifying.ts';
import type { HistoryEntry } from './journal/journal.ts';
import { checkOptions } from './options/library-options.ts';
import { resolve, resolveSigning } from './options/resolve.ts';
import type { Environment, LibraryOptionsOf, SettingsOptions, VerifyOptions } from './options/table.ts';
import type { ClassifiedFile, Minimum } from './policy/classified-file.ts';
import { removeSignatures as removeWith } from './signing/changes/remove.ts';
import { timestampFiles as timestampWith } from './signing/changes/timestamp.ts';
import type { ChangeFilesResult, FileToSign, SignFilesResult, SigningEvent } from './signing/outcome.ts';
import { describeResumed } from './signing/resume/resumed-call.ts';
import { signFiles as signWith } from './signing/sign-files.ts';
import { type InspectedFile, inspectFile as inspectWith } from './verifying/inspect-file.ts';
import type { VerifiedFile } from './verifying/verdict.ts';

export type { NamedObject } from './asn1/object-names.ts';
export { CodesignError, type ErrorCategory } from './errors/codesign-error.ts';
export type { CallOutcome, HistoryEntry } from './journal/journal.ts';
export type { SettingsOptions, VerifyOptions } from './options/table.ts';
export type { ClassifiedFile, Minimum } from './policy/classified-file.ts';
export type { CallRecord } from './service/call-record.ts';
export type {
  ChangeFilesResult,
  FailedOutcome,
  FileOutcome,
  FileToSign,
  InsideOutcome,
  PlannedOutcome,
  PlannedPart,
  RemovedOutcome,
  SignedOutcome,
  SignedPart,
  SignFilesResult,
  SigningEvent,
  SkippedOutcome,
  TimestampedOutcome,
} from './signing/outcome.ts';
export type { InspectedAttribute, InspectedValue } from './verifying/inspect-attributes.ts';
export type { InspectedCertificate, InspectedKey } from './verifying/inspect-certificates.ts';
export type {
  InspectedFile,
  InspectedSignature,
  InspectedSigner,
  InspectedTimestamp,
} from './verifying/inspect-file.ts';
export type {
  Identity,
  PathCertificate,
  Verdict,
  VerifiedFile,
  VerifiedSignature,
  VerifiedTimestamp,
} from './verifying/verdict.ts';

export interface SignFilesOptions extends SettingsOptions {
  /** Paths of the files to sign in place, or pairs of an input path and a result path. */
  readonly files: readonly (string | FileToSign)[];
  /**
   * Environment variables for credentials and settings that are not given as options. Pass `process.env` to use the
   * variables of the current process. A stored profile is read only if `profile`, `environment` or one of their
   * variables is set. A project file is never read.
   */
  readonly env?: Environment;
  /**
   * After the signal is aborted, nothing new starts, and the function waits only for signatures that were already
   * requested.
   */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

const CHANGE_OPTIONS = ['files', 'env', 'signal', 'onEvent'];

/**
 * Signs files in the same way as `codesign-remote sign`. If a file fails, the function does not throw but returns an
 * outcome for the file. Throws a CodesignError if no file can be signed because of the settings, the credentials or the
 * certificate.
 */
export async function signFiles(options: SignFilesOptions): Promise<SignFilesResult> {
  const clock = clockFromNow();
  checkOptions('signFiles', 'sign', options, CHANGE_OPTIONS);
  const { files, env = {}, signal, onEvent = () => undefined, ...settingsOptions } = options;
  const settings = resolveSigning(settingsOptions, env, await composeNamed(settingsOptions, env));
  const signing = await openSigning(settings, { env, clock }, onEvent);
  let isComplete = false;
  try {
    const result = await signWith(files.map(asFileToSign), signing, signal);
    isComplete = result.files.every(({ status }) => ['signed', 'unchanged', 'skipped'].includes(status));
    return result;
  } finally {
    await signing[Symbol.asyncDispose]();
    // The process may run for hours after this, but the run of this caller ends here.
    signing.noteEnd(isComplete && !signal?.aborted);
  }
}

export interface ChangeFilesOptions {
  /** Paths of the files to change in place, or pairs of an input path and a result path. */
  readonly files: readonly (string | FileToSign)[];
  /** After the signal is aborted, the function does not start on another file. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

export interface TimestampFilesOptions extends ChangeFilesOptions, LibraryOptionsOf<'timestamp'> {
  /** Environment variables, as for `signFiles`. */
  readonly env?: Environment;
}

/**
 * Adds timestamps to signed files in the same way as `codesign-remote timestamp`. If a file fails, the function does
 * not throw but returns an outcome for the file. Throws a CodesignError if no file can be changed.
 */
export async function timestampFiles(options: TimestampFilesOptions): Promise<ChangeFilesResult> {
  checkOptions('timestampFiles', 'timestamp', options, CHANGE_OPTIONS);
  const { files, env = {}, signal, onEvent = () => undefined, ...settingsOptions } = options;
  const settings = resolve('timestamp', settingsOptions, env, await composeNamed(settingsOptions, env));
  await using timestamping = await openTimestamping(settings, env, onEvent);
  return await timestampWith(files.map(asFileToSign), timestamping, timestamping.run, signal);
}

/**
 * Removes all signatures from files in the same way as `codesign-remote remove`. If a file fails, the function does not
 * throw but returns an outcome for the file.
 */
export async function removeSignatures(options: ChangeFilesOptions): Promise<ChangeFilesResult> {
  checkOptions('removeSignatures', 'remove', options, ['files', 'signal', 'onEvent']);
  const { files, signal, onEvent = () => undefined } = options;
  const { run } = await openRun(onEvent);
  return await removeWith(files.map(asFileToSign), run, signal);
}

function asFileToSign(file: string | FileToSign): FileToSign {
  return typeof file === 'string' ? { path: file, output: file } : file;
}

export interface ResumeOptions extends LibraryOptionsOf<'resume'> {
  /** Environment variables, as for `signFiles`. */
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

export interface ResumeResult {
  readonly calls: readonly ResumedCall[];
  /** Warnings for users, in the form `message [code]`. */
  readonly warnings: readonly string[];
}

/** A call from an earlier run. `left`: this run did not attempt the call. `failed`: the call is still unfinished. */
export type ResumedCall = ReturnType<typeof describeResumed>;

/**
 * Finishes the work of earlier runs in the same way as `codesign-remote resume`. `dryRun` only lists the calls;
 * `forget` and `forgetUnknown` discard them. Throws a CodesignError if no call can be finished.
 */
export async function resume(options: ResumeOptions = {}): Promise<ResumeResult> {
  const clock = clockFromNow();
  checkOptions('resume', 'resume', options, ['env', 'signal', 'onEvent']);
  const { env = {}, signal, onEvent = () => undefined, ...settingsOptions } = options;
  const stored = await composeNamed(settingsOptions, env);
  await using composition = await composeResume(settingsOptions, stored, { env, clock }, onEvent);
  const calls = await composition.run(signal);
  composition.noteEnd(calls.every(({ error }) => error === undefined) && !signal?.aborted);
  return { calls: calls.map(describeResumed), warnings: composition.warnings() };
}

export interface HistoryOptions extends LibraryOptionsOf<'history'> {
  /** Environment variables: CODESIGN_STATE_DIR, and the variables of the system that locate the state folder. */
  readonly env?: Environment;
}

/**
 * Yields the calls that `codesign-remote history` lists. The newest call comes last. Throws a CodesignError if the
 * journal cannot be read.
 */
export async function* history(options: HistoryOptions = {}): AsyncGenerator<HistoryEntry> {
  checkOptions('history', 'history', options, ['env']);
  const { env = {}, ...selection } = options;
  using composition = await composeHistory(selection, env);
  yield* composition.entries;
}

export interface VerifyFileOptions extends Omit<VerifyOptions, 'roots'> {
  /**
   * Paths of one or more files with root certificates; `system` adds the roots of the system. By default, the roots of
   * the system are used.
   */
  readonly roots?: string | readonly string[] | undefined;
  /**
   * Environment variables, such as SSL_CERT_FILE and HTTPS_PROXY. Pass `process.env` to use the variables of the
   * current process.
   */
  readonly env?: Environment;
}

/**
 * Verifies a file in the same way as `codesign-remote verify`. The result also describes problems of the file, and
 * errors that occurred while it was read. Throws a CodesignError if a setting is invalid or the roots cannot be read.
 */
export async function verifyFile(path: string, options: VerifyFileOptions = {}): Promise<VerifiedFile> {
  checkOptions('verifyFile', 'verify', options, ['env']);
  const { env = {}, roots, ...verifyOptions } = options;
  const settings = resolve('verify', { ...verifyOptions, roots: typeof roots === 'string' ? [roots] : roots }, env);
  await using composition = await composeVerifying(settings, env);
  return await composition.verifyFile(path);
}

export interface VerifyFilesOptions extends VerifyFileOptions {
  /** Also verifies the files inside archives and packages, and accepts unsigned files of kinds that need no signature. */
  readonly inside?: boolean | undefined;
  /** Path of a policy, which implies `inside`. */
  readonly policy?: string | undefined;
  /** Patterns in the policy match paths relative to this folder. By default, they match only the file name. */
  readonly folder?: string | undefined;
  /** Limit on the total unpacked size of one file and all files inside it, in GiB. */
  readonly maxUnpacked?: number | undefined;
}

export interface VerifyFilesResult {
  /** Each list starts with one of the given files, followed by the files inside it. */
  readonly files: readonly (readonly ClassifiedFile[])[];
  /** True if all files were read, no file failed, and the policy's `minimum` was reached. */
  readonly isAccepted: boolean;
  /** The parts of `minimum` in the policy that the files have not reached. */
  readonly minimum: readonly Minimum[];
  /** Warnings about the policy, for users, in the form `message [code]`. */
  readonly warnings: readonly string[];
}

/**
 * Verifies files in the same way as `codesign-remote verify`, with `--inside` or `--policy` if these options are set. The
 * result also describes the files that failed or could not be read. Throws a CodesignError if a setting is invalid, or if
 * the policy or the roots cannot be read.
 */
export async function verifyFiles(
  paths: readonly string[],
  options: VerifyFilesOptions = {},
): Promise<VerifyFilesResult> {
  checkOptions('verifyFiles', 'verify', options, ['env', 'inside', 'policy', 'folder', 'maxUnpacked']);
  const { env = {}, roots, inside, folder, ...verifyOptions } = options;
  const settings = resolve('verify', { ...verifyOptions, roots: typeof roots === 'string' ? [roots] : roots }, env);
  const isAlone = !inside && settings.policy === undefined;
  await using composition = await composeInside(settings, env, { isAlone });
  const files: (readonly ClassifiedFile[])[] = [];
  for (const path of paths) {
    files.push(await composition.verify(path, folder === undefined ? undefined : relative(folder, path)));
  }
  const { minimum, warnings } = composition.end();
  const isRead = files.every(([outer]) => outer?.verified?.error === undefined);
  const isAccepted = isRead && minimum.length === 0 && !files.flat().some(({ isFailure }) => isFailure);
  return { files, isAccepted, minimum, warnings };
}

/**
 * Describes a file's signatures, as `codesign-remote inspect` does: their signers, certificates, attributes,
 * timestamps, nested signatures and problems. Works offline, and does not check trust. The text is not escaped, so
 * names may contain control characters. Throws a CodesignError if the file cannot be read. For an unsigned file, the
 * list of signatures is empty.
 */
export function inspectFile(path: string): Promise<InspectedFile> {
  return inspectWith(path, composeReading());
}
