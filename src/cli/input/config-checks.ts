/** Whether what `init` is told can be used to sign: each answer by itself, as soon as it is there. */

import { checkRoots, readChain } from '../../app/compose-config.ts';
import type { SigningChain } from '../../certificates/signing-chain.ts';
import { parseBaseUrl } from '../../options/base-url.ts';
import { refuseMissing } from '../../options/missing.ts';
import type { Environment } from '../../options/options.ts';
import { readTimestampUrl } from '../../options/timestamp-values.ts';
import { readText, refuse } from '../../options/values.ts';

/** What is known before anybody is asked. */
export interface Suggestion {
  readonly values: readonly string[];
  /** As an option of this very command: nobody is asked. */
  readonly isSaid: boolean;
}

export interface Suggested {
  readonly baseUrl: Suggestion;
  readonly code: Suggestion;
  readonly certificate: Suggestion;
  readonly timestampUrl: Suggestion;
  /** Taken where it was given; nobody is asked for it. */
  readonly caFile: string | undefined;
}

export interface Answers {
  readonly baseUrl: string;
  readonly code: string;
  readonly certificate: readonly string[];
  /** Empty for none. */
  readonly timestampUrl: readonly string[];
  readonly caFile: string | undefined;
  readonly chain: SigningChain;
}

/** Without asking. Throws `setting-missing`, and what is wrong with a value. */
export async function checkSuggested(suggested: Suggested, env: Environment): Promise<Answers> {
  const { baseUrl, code, certificate, timestampUrl, caFile } = suggested;
  const needed = ['baseUrl', 'code', 'certificate'] as const;
  refuseMissing({ settings: needed.filter((key) => suggested[key].values.length === 0) });
  const [address = ''] = baseUrl.values;
  const [number = ''] = code.values;
  return {
    baseUrl: checkAddress(address, '--base-url'),
    code: checkCode(number, '--code'),
    certificate: certificate.values,
    timestampUrl: timestampUrl.values.map((value) => checkAuthority(value, '--timestamp-url')),
    caFile: await checkCaFile(caFile, env),
    chain: await readChain(certificate.values, env),
  };
}

/** `name`: what is checked, for messages. */
export function checkAddress(value: string, name: string): string {
  parseBaseUrl(value, name);
  return value;
}

export function checkCode(value: string, name: string): string {
  const from = { value, name };
  return /[\s\p{Cc}]/u.test(value) ? refuse(from, 'a number without blanks') : readText(from);
}

export function checkAuthority(value: string, name: string): string {
  readTimestampUrl({ value, name });
  return value;
}

export async function checkCaFile(path: string | undefined, env: Environment): Promise<string | undefined> {
  if (path !== undefined) await checkRoots(path, env);
  return path;
}
