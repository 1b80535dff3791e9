/** Runs keytar in a separate process, which can be killed while it waits for the user. */

import { createRequire } from 'node:module';
import * as v from 'valibot';
import { isExecutable } from '../../bytes/executable.ts';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { printable } from '../../errors/printable.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { Secret } from '../../secrets/secret.ts';
import { settingsErrors } from '../errors.ts';
import { type Environment, OPTIONS } from '../table.ts';

/** Each method has a time limit, and throws `keychain-unavailable`, `keychain-locked` or `keychain-denied`. */
export interface Keychain {
  /** On Linux, the result is also undefined if the keychain stays locked. */
  read(name: string): Promise<Secret | undefined>;
  write(name: string, value: Secret): Promise<void>;
  remove(name: string): Promise<boolean>;
}

export const DEFAULT_ENVIRONMENT = OPTIONS.environment.default;

export interface Account {
  readonly profile: string;
  readonly environment: string;
}

export function accountName({ profile, environment }: Account): string {
  return environment === DEFAULT_ENVIRONMENT ? profile : `${profile}/${environment}`;
}

export function accountText({ profile, environment }: Account): string {
  return environment === DEFAULT_ENVIRONMENT ? profile : `${profile} (${environment})`;
}

/** Messages of libsecret and of Apple's Security framework. Windows has no locked keychain. */
const LOCKED = [
  /\/secrets\/collection\/|\/secrets\/aliases\//,
  /locked collection|is locked/i,
  /interaction is not allowed|keychain could not be found/i,
];
const DENIED = [
  /cancel|dismissed/i,
  /access is denied|access denied|not permitted/i,
  /name or passphrase you entered is not correct|authorization (was )?denied/i,
];

export function keychainFailure(words: string): CodesignError {
  const reason = printable(words);
  const fits = (pattern: RegExp): boolean => pattern.test(words);
  if (LOCKED.some(fits)) return settingsErrors('keychain-locked', { reason });
  if (DENIED.some(fits)) return settingsErrors('keychain-denied', { reason });
  return settingsErrors('keychain-unavailable', { reason });
}

const PROBE = 'codesign-remote logout';
const SERVICE = 'codesign-remote';

interface KeychainOptions {
  /** On Linux, the environment variables contain the D-Bus address of the keychain. */
  readonly env: Environment;
  /** A keychain that asks the user for a password may wait forever. */
  readonly patienceMilliseconds: number;
  /** Throws if keytar, an optional dependency, is missing. */
  readonly locate?: (() => string) | undefined;
}

type Operation = 'getPassword' | 'setPassword' | 'deletePassword';

type Answer = { readonly value: unknown } | { readonly failed: 'load' | 'call'; readonly words: string };

/**
 * Calls keytar once. In the program's own process, keytar would block a thread that Node.js cannot end. Names and
 * secrets come from standard input, because other users can see arguments. Standard input stays open as long as the
 * caller waits.
 */
const PROGRAM = `
const { stdin, stdout } = process;
process.on('SIGUSR1', () => undefined); // Otherwise Node opens its inspector.
const answer = (document) => stdout.write(JSON.stringify(document), () => process.exit());
let asked = '';
stdin.setEncoding('utf8');
stdin.on('end', () => process.kill(process.pid, 'SIGKILL'));
stdin.on('data', (text) => {
  asked += text;
  if (!asked.endsWith('\\n')) return;
  const { path, operation, values } = JSON.parse(asked);
  let keytar;
  try {
    keytar = require(path);
  } catch (error) {
    return answer({ failed: 'load', words: String(error && error.message) });
  }
  keytar[operation](...values).then(
    (value) => answer({ value: value === undefined ? null : value }),
    (error) => answer({ failed: 'call', words: String(error && error.message) }),
  );
});
`;

export function openKeychain(options: KeychainOptions): Keychain {
  const call = async (operation: Operation, ...values: readonly string[]): Promise<unknown> => {
    const answer = await callKeytar({ operation, values: [SERVICE, ...values] }, options);
    if (!('failed' in answer)) return answer.value;
    throw answer.failed === 'load' ? notLoaded() : keychainFailure(answer.words);
  };
  return {
    async read(name) {
      const value = await call('getPassword', name);
      return typeof value === 'string' ? new Secret(value) : undefined;
    },
    async write(name, value) {
      await call('setPassword', name, value.reveal());
    },
    async remove(name) {
      if ((await call('deletePassword', name)) === true) return true;
      if (process.platform !== 'linux') return false;
      // libsecret returns nothing for a locked keychain, as for an empty one. Writing an entry detects a locked
      // keychain, and makes the next lookup reliable.
      await call('setPassword', PROBE, PROBE);
      await call('deletePassword', PROBE);
      return (await call('deletePassword', name)) === true;
    },
  };
}

function notLoaded() {
  const reason =
    process.platform === 'linux'
      ? 'keytar does not load; it needs libsecret (package libsecret-1-0 or libsecret) and a C library it knows'
      : `keytar does not load on ${process.platform} ${process.arch}`;
  return settingsErrors('keychain-unavailable', { reason });
}

async function callKeytar(
  request: { readonly operation: Operation; readonly values: readonly string[] },
  { env, patienceMilliseconds, locate = locateKeytar }: KeychainOptions,
): Promise<Answer> {
  const path = find(locate);
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--input-type=commonjs', '--eval', PROGRAM], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      const seconds = patienceMilliseconds / 1000;
      reject(settingsErrors('keychain-locked', { reason: `it did not answer within ${seconds} s` }));
    }, patienceMilliseconds);
    let answered = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answered += text;
    });
    child.once('error', (thrown) => {
      clearTimeout(timer);
      const reason = `no process can be started for it: ${systemReason(thrown)}`;
      reject(settingsErrors('keychain-unavailable', { reason }, { cause: thrown }));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve(readAnswer(answered) ?? { failed: 'call', words: `keytar ended with ${signal ?? code}` });
    });
    child.stdin.on('error', () => undefined);
    child.stdin.write(`${JSON.stringify({ path, ...request })}\n`);
  });
}

function find(locate: () => string): string {
  if (isExecutable()) {
    throw settingsErrors('keychain-unavailable', { reason: 'a single executable cannot load the package keytar' });
  }
  try {
    return locate();
  } catch (cause) {
    const reason = 'the package keytar is not installed';
    throw settingsErrors('keychain-unavailable', { reason }, { cause });
  }
}

function locateKeytar(): string {
  return createRequire(import.meta.url).resolve('keytar');
}

function readAnswer(text: string): Answer | undefined {
  const answer = parseJson(text);
  const isAnswer = typeof answer === 'object' && answer !== null && ('value' in answer || 'failed' in answer);
  return isAnswer ? (answer as Answer) : undefined;
}

export interface StoredCredentials {
  /** The only origin to which the credentials may be sent. */
  readonly origin: string;
  readonly accessKey: string;
  readonly accessSecret: Secret;
}

export const entrySchema = v.object({
  origin: v.pipe(v.string(), v.nonEmpty()),
  accessKey: v.pipe(v.string(), v.nonEmpty()),
  accessSecret: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.transform((text) => new Secret(text)),
  ),
});

export async function readStoredCredentials(
  keychain: Keychain,
  account: Account,
): Promise<StoredCredentials | undefined> {
  const entry = await keychain.read(accountName(account));
  if (entry === undefined) return undefined;
  const parsed = v.safeParse(entrySchema, parseJson(entry.reveal()));
  if (!parsed.success) throw settingsErrors('keychain-entry-unusable', account);
  return parsed.output;
}

export async function storeCredentials(
  keychain: Keychain,
  account: Account,
  credentials: StoredCredentials,
): Promise<void> {
  await keychain.write(accountName(account), new Secret(JSON.stringify(entryOf(credentials))));
}

export function entryOf({ origin, accessKey, accessSecret }: StoredCredentials) {
  return { origin, accessKey, accessSecret: accessSecret.reveal() };
}

/** The parser's error is dropped, because it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
