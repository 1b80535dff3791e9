/** The library's door: what build tools import. */

import { composeNamed } from './app/compose-config.ts';
import { composeReading } from './app/compose-local.ts';
import { composeSigning } from './app/compose-signing.ts';
import { composeVerifying } from './app/compose-verifying.ts';
import { resolveSettings } from './options/commands/sign.ts';
import { resolveVerifySettings } from './options/commands/verify.ts';
import type { SettingsOptions, VerifyOptions } from './options/options.ts';
import type { FileToSign, SignFilesResult, SigningEvent } from './signing/outcome.ts';
import { type InspectedFile, inspectFile as inspectWith } from './verifying/inspect-file.ts';
import type { VerifiedFile } from './verifying/verdict.ts';

export type { NamedObject } from './asn1/object-names.ts';
export { CodesignError, type ErrorCategory } from './errors/codesign-error.ts';
export type { SettingsOptions, VerifyOptions } from './options/options.ts';
export type { CallRecord } from './service/call-record.ts';
export type {
  FailedOutcome,
  FileOutcome,
  FileToSign,
  PlannedOutcome,
  SignedOutcome,
  SignFilesResult,
  SigningEvent,
  SkippedOutcome,
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
  /** When it aborts, nothing new starts and calls under way are waited for. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: SigningEvent) => void;
}

/**
 * Signs files as `codesign-remote sign` does. One file that fails does not throw: it has its outcome. Throws a
 * CodesignError for what makes the whole run impossible: settings, credentials, the certificate.
 */
export async function signFiles(options: SignFilesOptions): Promise<SignFilesResult> {
  const { files, env = {}, signal, onEvent = () => undefined, ...settingsOptions } = options;
  const settings = resolveSettings(settingsOptions, env, await composeNamed(settingsOptions, env));
  const composition = await composeSigning(settings, env, onEvent);
  const named = files.map((file) => (typeof file === 'string' ? { path: file, output: file } : file));
  const result = await composition.signFiles(named, signal).finally(() => composition[Symbol.asyncDispose]());
  // The process may go on for hours: for a caller of the library the run ends here.
  const isComplete = result.files.every(({ status }) => status === 'signed' || status === 'skipped');
  if (isComplete && !signal?.aborted) composition.noteEnd();
  return result;
}

export interface VerifyFileOptions extends VerifyOptions {
  /** Where SSL_CERT_FILE and HTTPS_PROXY are looked for: pass `process.env` to use the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Verifies a file as `codesign-remote verify` does. What is wrong with the file, or keeps it from being read, is in the
 * result. Throws a CodesignError for settings that cannot be, and roots that cannot be read.
 */
export async function verifyFile(path: string, options: VerifyFileOptions = {}): Promise<VerifiedFile> {
  const { env = {}, ...verifyOptions } = options;
  await using composition = await composeVerifying(resolveVerifySettings(verifyOptions, env), env);
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
