/** Checks that send nothing. */

import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { composeStored, readChain } from '../app/compose-config.ts';
import { composeCredentials, composeKeychain } from '../app/compose-credentials.ts';
import { composeJournalReading, stateFolderOf } from '../app/compose-local.ts';
import { REVISION, VERSION } from '../app/version.ts';
import { dateOf, type SigningChain } from '../certificates/signing-chain.ts';
import { fingerprintOf } from '../crypto/fingerprint.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { plural } from '../errors/plural.ts';
import { openDatabase } from '../journal/driver.ts';
import { asJournalError } from '../journal/errors.ts';
import type { HistoryEntry } from '../journal/journal.ts';
import { isMissing } from '../journal/place.ts';
import { type Credentials, hasCredentials } from '../options/credentials/credentials.ts';
import { accountName, accountText } from '../options/credentials/keychain.ts';
import type { Stored } from '../options/lookup.ts';
import { missingSettings, type Resolved, resolve } from '../options/resolve.ts';
import { credentialsPath } from '../options/stored/profiles.ts';
import { definitionOf, type Environment, type OptionKey, type OptionsOf } from '../options/table.ts';
import { unknownVariables } from '../options/variables.ts';
import type { Passed } from './check.ts';
import { doctorWarnings } from './errors.ts';

/** Results of earlier checks, which later checks use. */
export interface Setup {
  readonly options: OptionsOf<'doctor'>;
  readonly env: Environment;
  stored?: Stored;
  settings?: Resolved<'doctor'>;
  chain?: SigningChain;
  credentials?: Credentials;
}

const LITTLE_SPACE = 10 * 1024 * 1024;
const MEGABYTE = 1024 * 1024;

export function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a check ran before the check that it needs');
  return value;
}

/** Loads SQLite, which Node.js 20 lacks. */
export function checkProgram(): Passed {
  try {
    openDatabase(':memory:').close();
  } catch (thrown) {
    throw asJournalError(thrown, ':memory:');
  }
  return {
    text: `codesign-remote ${VERSION} (${REVISION}), Node.js ${process.versions.node}, ${process.platform} ${process.arch}`,
  };
}

export function checkVariables({ env }: Setup): Passed {
  const count = Object.keys(env).filter((name) => name.startsWith('CODESIGN_')).length;
  return { text: `${plural(count, 'variable')} CODESIGN_… set`, notes: unknownVariables(env) };
}

export async function checkProfile(setup: Setup): Promise<Passed> {
  setup.stored = await composeStored(setup.options, setup.env);
  const { profile, project } = setup.stored;
  const isEmpty = profile.values.size === 0 && profile.environments.size === 0;
  const files = [`profile ${profile.name}`, ...(project === undefined ? [] : [project.path])];
  return { text: files.join(', '), notes: isEmpty ? [doctorWarnings('profile-not-stored')] : [] };
}

const NEEDED = ['baseUrl', 'code', 'certificate'] as const;
/** The check prints only these values: others may contain secrets, or are printed by separate checks. */
const VALUES_SHOWN: readonly OptionKey[] = ['baseUrl', 'code'];
const SHOWN: readonly OptionKey[] = [...NEEDED, 'timestampUrl', 'caFile'];

export function checkSettings(setup: Setup): Passed {
  const { options, env } = setup;
  const settings = resolve('doctor', options, env, setup.stored);
  const missing = NEEDED.filter((key) => settings.look.one(key) === undefined);
  if (missing.length > 0) throw missingSettings(missing, env, { hasCredentials: hasCredentials(env) });
  setup.settings = settings;
  const origins = SHOWN.flatMap((key) => {
    const one = settings.look.one(key);
    const value = VALUES_SHOWN.includes(key) ? ` ${one?.value}` : '';
    return one === undefined ? [] : [`${definitionOf(key).flag.slice(2)}${value} from ${one.origin}`];
  });
  return { text: origins.join(', ') };
}

/** Reads the journal without creating it. */
export async function checkState({ env }: Setup): Promise<Passed> {
  const folder = stateFolderOf(env);
  if (!existsSync(folder)) {
    freeSpace(folder);
    return { text: `${folder} does not exist yet: sign creates it` };
  }
  using journal = await composeJournalReading(env);
  const unfinished = await journal.unfinished();
  const free = freeSpace(folder);
  const notes = [
    ...journal.warnings,
    ...(unfinished.length > 0
      ? [doctorWarnings('calls-unfinished', { calls: plural(unfinished.length, 'call') })]
      : []),
    ...(free < LITTLE_SPACE ? [doctorWarnings('space-low', { megabytes: Math.floor(free / MEGABYTE) })] : []),
  ];
  return { text: `${folder}, ${Math.floor(free / MEGABYTE).toLocaleString('en-US')} MB free`, notes };
}

/** Throws if this user cannot write to the folder, or cannot create it. */
function freeSpace(folder: string): number {
  try {
    let existing = folder;
    while (isMissing(existing)) existing = dirname(existing);
    accessSync(`${existing}/.`, constants.W_OK);
    const { bavail, bsize } = statfsSync(existing);
    return bavail * bsize;
  } catch (thrown) {
    throw asJournalError(thrown, folder);
  }
}

export async function checkCertificate(setup: Setup): Promise<Passed> {
  const chain = await readChain(found(setup.settings).certificate, setup.env);
  setup.chain = chain;
  const { leaf, certificates, withoutRoot, publicKey, warnings } = chain;
  const end = certificates.length > withoutRoot.length ? 'with its root' : 'without its root';
  const bits = publicKey.asymmetricKeyDetails?.modulusLength;
  const dates = `valid from ${dateOf(leaf.notBefore)} until ${dateOf(leaf.notAfter)}`;
  const length = plural(certificates.length, 'certificate');
  return { text: `"${leaf.name}", RSA ${bits} bits, ${dates}, chain of ${length} ${end}`, notes: warnings };
}

/** Finds out for which certificate the number was last used. */
export async function checkNumber({ settings, chain, env }: Setup): Promise<Passed> {
  const { baseUrl, code = '' } = found(settings);
  using journal = await composeJournalReading(env);
  let count = 0;
  let last: HistoryEntry | undefined;
  for await (const entry of journal.history()) {
    if (entry.code !== code || entry.origin !== baseUrl?.origin || entry.counted === 'no') continue;
    count += 1;
    last = entry;
  }
  const text = `${code}: ${count === 0 ? 'no signature' : plural(count, 'signature')} in the journal`;
  if (last === undefined || last.certificate.sha256 === fingerprintOf(found(chain).leaf.der)) return { text };
  return { text, notes: [doctorWarnings('number-of-other-certificate', { code, name: last.certificate.name })] };
}

export async function checkKeychain({ settings, env }: Setup): Promise<Passed> {
  const account = found(settings);
  try {
    const entry = await composeKeychain(env).read(accountName(account));
    const has = entry === undefined ? 'no credentials' : 'credentials';
    return { text: `${has} of profile ${accountText(account)}` };
  } catch (thrown) {
    const { message } = expectedError(thrown);
    return { text: 'cannot be used', notes: [doctorWarnings('keychain-missing', { reason: message })] };
  }
}

export async function checkCredentialsFound(setup: Setup): Promise<Passed> {
  const settings = found(setup.settings);
  const credentials = await composeCredentials(setup.env, settings, settings.baseUrl?.origin);
  setup.credentials = credentials;
  const place = credentials.source === 'file' ? credentialsPath(setup.env) : `the ${credentials.source}`;
  return { text: `from ${place}`, notes: credentials.warnings };
}

export function checkLimits({ settings }: Setup): Passed {
  const { look } = found(settings);
  const limit = look.read('maxSignatures');
  const signatures = limit === undefined ? 'any number of signatures' : `at most ${plural(limit, 'signature')}`;
  return {
    text: `${signatures} in a run, ${look.read('concurrency')} requests at once, ${look.read('timeout') / 1000} s for each`,
    notes: limit === 0 ? [doctorWarnings('no-signatures-allowed')] : [],
  };
}
