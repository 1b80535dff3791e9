import { CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { printable } from '../errors/printable.ts';
import { type SignFilesOptions, signFiles } from '../index.ts';
import { DEFAULT_PROFILE } from '../options/stored/profiles.ts';

export interface FileOfBuild extends Pick<SignFilesOptions, 'description' | 'url' | 'algorithm'> {
  readonly path: string;
}

/**
 * Signs files in place like the `sign` command, with settings and credentials from the environment, the user's profile
 * and the keychain. Throws a CodesignError with a complete message.
 */
export async function signForBuild({ path, ...options }: FileOfBuild): Promise<void> {
  const profile = process.env.CODESIGN_PROFILE || DEFAULT_PROFILE;
  // The build tool chose the file, so the file may belong to another publisher.
  const files = [{ path, output: path, isFound: true }];
  const run = signFiles({ ...options, files, env: process.env, profile });
  const result = await run.catch((thrown: unknown) => {
    throw inFull(`${path} was not signed: `, toCodesignError(thrown));
  });
  const [outcome] = result.files;
  if (outcome?.status === 'skipped') say(`${path} keeps the signature of another publisher`);
  for (const warning of [...result.warnings, ...(outcome?.warnings ?? [])]) say(warning);
  if (outcome?.status === 'failed') throw inFull(`${path} was not signed: `, outcome.error);
}

/** Adds the error code and the hint to the message, because build tools print nothing else. */
export function inFull(lead: string, error: CodesignError): CodesignError {
  const { code, category, hint, message } = error;
  const full = `${lead}${message} [${code}]${hint === undefined ? '' : `. ${hint}`}`;
  return new CodesignError({ code, category, hint, message: printable(full, full.length), cause: error });
}

/** Build tools use standard output for their own text. */
export function say(sentence: string): void {
  process.stderr.write(`codesign-remote: ${printable(sentence, sentence.length)}\n`);
}
