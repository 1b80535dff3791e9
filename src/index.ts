/** The entry point of the library: what build tools import. */

import { clockFromNow } from './app/clock.ts';
import { openLocalRun, openTimestamping } from './app/compose-changes.ts';
import { composeNamed } from './app/compose-config.ts';
import { composeHistory } from './app/compose-history.ts';
import { composeReading } from './app/compose-local.ts';
import { composeResume } from './app/compose-resume.ts';
import { openSigning } from './app/compose-signing.ts';
import { composeVerifying } from './app/compose-verifying.ts';
import type { HistoryEntry } from './journal/journal.ts';
import type { Environment, SettingsOptions, VerifyOptions } from './options/options.ts';
import { resolve } from './options/resolve.ts';
import { resolveSigning } from './options/resolve-signing.ts';
import type { LibraryOptionsOf } from './options/table.ts';
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
export type { SettingsOptions, VerifyOptions } from './options/options.ts';
export type { CallRecord } from './service/call-record.ts';
export type {
  ChangeFilesResult,
  FailedOutcome,
  FileOutcome,
  FileToSign,
  InnerPlanned,
  InnerSigned,
  PlannedOutcome,
  RemovedOutcome,
  SignedOutcome,
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

export interface SignFilesOptions extends Omit<SettingsOptions, 'output'> {
  /** Paths, signed in place, or paths with where the result goes. */
  readonly files: readonly (string | FileToSign)[];
  /**
   * Where credentials and settings not given here come from: pass `process.env` to use the process's own. A stored profile
   * is read when `profile` or `environment` is given, or one of their variables is in here; a project file never.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** When it aborts, nothing new starts, and only requested signatures are waited for. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

/**
 * Signs files as `codesign-remote sign` does. One file that fails does not throw: it has its outcome. Throws a
 * CodesignError for what makes the whole run impossible: settings, credentials, the certificate.
 */
export async function signFiles(options: SignFilesOptions): Promise<SignFilesResult> {
  const clock = clockFromNow();
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
    // The process may go on for hours: for a caller of the library the run ends here.
    signing.noteEnd(isComplete && !signal?.aborted);
  }
}

export interface ChangeFilesOptions {
  /** Paths, changed in place, or paths with where the result goes. */
  readonly files: readonly (string | FileToSign)[];
  /** When it aborts, nothing new starts. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

export interface TimestampFilesOptions extends ChangeFilesOptions, Omit<LibraryOptionsOf<'timestamp'>, 'output'> {
  /** As for `signFiles`. */
  readonly env?: Environment;
}

/**
 * Adds timestamps to signed files as `codesign-remote timestamp` does. One file that fails does not throw: it has its
 * outcome. Throws a CodesignError for what makes the whole run impossible.
 */
export async function timestampFiles(options: TimestampFilesOptions): Promise<ChangeFilesResult> {
  const { files, env = {}, signal, onEvent = () => undefined, ...settingsOptions } = options;
  const settings = resolve('timestamp', settingsOptions, env, await composeNamed(settingsOptions, env));
  await using timestamping = await openTimestamping(settings, env, onEvent);
  return await timestampWith(files.map(asFileToSign), timestamping, timestamping.run, signal);
}

/** Removes all signatures from files as `codesign-remote remove` does. One file that fails does not throw: it has its outcome. */
export async function removeSignatures(options: ChangeFilesOptions): Promise<ChangeFilesResult> {
  const { files, signal, onEvent = () => undefined } = options;
  const { run } = await openLocalRun(onEvent);
  return await removeWith(files.map(asFileToSign), run, signal);
}

function asFileToSign(file: string | FileToSign): FileToSign {
  return typeof file === 'string' ? { path: file, output: file } : file;
}

export interface ResumeOptions extends LibraryOptionsOf<'resume'> {
  /** As for `signFiles`. */
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

export interface ResumeResult {
  readonly calls: readonly ResumedCall[];
  /** For people: `message [code]`. */
  readonly warnings: readonly string[];
}

/** A call of an earlier run; `left` was not tried, `failed` is still unfinished. */
export type ResumedCall = ReturnType<typeof describeResumed>;

/**
 * Finishes what earlier runs left as `codesign-remote resume` does; with `dryRun` it only lists the calls, with `forget` or
 * `forgetUnknown` it gives them up. Throws a CodesignError for what makes the whole run impossible.
 */
export async function resume(options: ResumeOptions = {}): Promise<ResumeResult> {
  const clock = clockFromNow();
  const { env = {}, signal, onEvent = () => undefined, ...settingsOptions } = options;
  const stored = await composeNamed(settingsOptions, env);
  await using composition = await composeResume(settingsOptions, stored, { env, clock }, onEvent);
  const calls = await composition.run(signal);
  composition.noteEnd(calls.every(({ error }) => error === undefined) && !signal?.aborted);
  return { calls: calls.map(describeResumed), warnings: composition.warnings() };
}

export interface HistoryOptions extends LibraryOptionsOf<'history'> {
  /** Where CODESIGN_STATE_DIR and the system's variables for the state folder are looked for. */
  readonly env?: Environment;
}

/** The calls that `codesign-remote history` lists, newest last. Throws a CodesignError if the journal cannot be read. */
export async function* history(options: HistoryOptions = {}): AsyncGenerator<HistoryEntry> {
  const { env = {}, ...selection } = options;
  using composition = await composeHistory(selection, env);
  yield* composition.entries;
}

export interface VerifyFileOptions extends Omit<VerifyOptions, 'roots'> {
  /** A path, or several; `system` adds the roots of the system. Default: the roots of the system. */
  readonly roots?: string | readonly string[] | undefined;
  /** Where SSL_CERT_FILE and HTTPS_PROXY are looked for: pass `process.env` to use the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Verifies a file as `codesign-remote verify` does. What is wrong with the file, or keeps it from being read, is in the
 * result. Throws a CodesignError for settings that cannot be, and roots that cannot be read.
 */
export async function verifyFile(path: string, options: VerifyFileOptions = {}): Promise<VerifiedFile> {
  const { env = {}, roots, ...verifyOptions } = options;
  const settings = resolve('verify', { ...verifyOptions, roots: typeof roots === 'string' ? [roots] : roots }, env);
  await using composition = await composeVerifying(settings, env);
  return await composition.verifyFile(path);
}

/**
 * Takes a file's signatures apart as `codesign-remote inspect` does: signers, certificates, attributes, timestamps and
 * what is wrong with them, nested signatures too. Offline; says nothing of trust. Text in it is raw: names may hold
 * control characters. Throws a CodesignError when the file cannot be read; an unsigned one has no signatures.
 */
export function inspectFile(path: string): Promise<InspectedFile> {
  return inspectWith(path, composeReading());
}
