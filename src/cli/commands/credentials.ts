import type { Readable } from 'node:stream';
import { type CredentialsComposition, composeCredentialsCommand } from '../../app/compose-credentials.ts';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { checkAccessKey, hasCredentials, readAccessSecret } from '../../options/credentials/credentials.ts';
import { secretIn } from '../../options/credentials/files.ts';
import {
  type Account,
  accountName,
  accountText,
  type Keychain,
  type StoredCredentials,
  storeCredentials,
} from '../../options/credentials/keychain.ts';
import { settingsErrors } from '../../options/errors.ts';
import { missingSettings } from '../../options/resolve.ts';
import { DEFAULT_PROFILE } from '../../options/stored/profiles.ts';
import type { OptionsOf, ProfileOptions } from '../../options/table.ts';
import { parseBaseUrl } from '../../options/values.ts';
import type { Secret } from '../../secrets/secret.ts';
import { cliErrors, cliWarnings } from '../errors.ts';
import { canAsk, openAsk } from '../input/ask.ts';
import { askForRoots } from '../input/init-answers.ts';
import type { Io } from '../io.ts';
import { fail } from '../output/fail.ts';
import { jsonText } from '../output/json.ts';
import { Lines, maskedKey, shown, writeLines } from '../output/lines.ts';

interface Given {
  readonly baseUrl: URL;
  readonly accessKey: string;
  readonly accessSecret: Secret;
}

/** Longer input is probably the wrong file. */
const LARGEST_SECRET = 64 * 1024;
const SOURCE = 'standard input';
const KEY_OPTION = '--access-key';
const WITHOUT_TERMINAL = `Give the access key with ${KEY_OPTION}, and the access secret on standard input: codesign-remote login ${KEY_OPTION} <key> < file`;

/** Stores nothing if a check of the credentials fails. */
export async function login(options: OptionsOf<'login'> & ProfileOptions, io: Io): Promise<number> {
  const { check = true } = options;
  const lines = new Lines(io, options);
  const composition = await composeCredentialsCommand(options, io.env, { mayBeNew: true });
  const { settings } = composition;
  const store = await openStore(composition, io);
  const given = canAsk(io) ? await askFor(options, composition, io) : await readFrom(options, composition, io);
  const checked = check ? await checkUntilTrusted(given, options, lines, io) : { caFile: options.caFile };
  if ('exitCode' in checked) return checked.exitCode;
  const { accessKey, accessSecret, baseUrl } = given;
  const place = await store({ origin: baseUrl.origin, accessKey, accessSecret }, lines);
  lines.result(
    `stored   access key ${maskedKey(accessKey)} for ${baseUrl.origin} in ${place}, as those of ${profileText(settings)}`,
  );
  if (hasCredentials(io.env)) lines.warning(cliWarnings('environment-wins'));
  await storeAddress(composition, baseUrl, lines);
  await storeRoots(checked.caFile, checked.caFile !== options.caFile, composition, lines);
  return 0;
}

/** Fails before the user types a secret if nothing can be stored. Returns a function that stores credentials. */
async function openStore({ settings, keychain, file }: CredentialsComposition, io: Io) {
  const { readFileEntry, removeFileEntry, writeFileEntry } = await import(
    '../../options/credentials/credentials-file.ts'
  );
  await readFileEntry(file, settings);
  if (settings.store === 'file' || !(await hasKeychain(keychain, settings, io))) {
    return async (credentials: StoredCredentials, lines: Lines): Promise<string> => {
      await writeFileEntry(file, settings, credentials);
      lines.warning(cliWarnings('credentials-not-encrypted', { path: file }));
      return shown(file);
    };
  }
  return async (credentials: StoredCredentials): Promise<string> => {
    await storeCredentials(keychain, settings, credentials);
    // Older credentials in the file would take precedence.
    await removeFileEntry(file, settings);
    return 'the keychain';
  };
}

/** Uses a file instead of a missing keychain only if the user agrees. */
async function hasKeychain(keychain: Keychain, account: Account, io: Io): Promise<boolean> {
  try {
    await keychain.read(accountName(account));
    return true;
  } catch (thrown) {
    if (!isWithoutKeychain(thrown) || !canAsk(io)) throw thrown;
    using ask = openAsk(io, WITHOUT_TERMINAL);
    writeLines(io.stderr, [shown(toCodesignError(thrown).message)], io);
    if (await ask.confirm('Store your credentials in a file that only you can read, without encryption?', false))
      return false;
    throw thrown;
  }
}

function isWithoutKeychain(thrown: unknown): boolean {
  return toCodesignError(thrown).code === 'keychain-unavailable';
}

async function askFor(options: OptionsOf<'login'>, { settings }: CredentialsComposition, io: Io): Promise<Given> {
  using ask = openAsk(io, WITHOUT_TERMINAL);
  const known = settings.baseUrl && addressOf(settings.baseUrl);
  const baseUrl =
    options.baseUrl !== undefined && settings.baseUrl !== undefined
      ? settings.baseUrl
      : await ask.text('Address of the signing service', {
          defaultAnswer: known,
          accept: (answer) => parseBaseUrl(answer, 'the answer'),
        });
  const readKey = (answer: string): string => checkAccessKey(answer, 'the access key');
  const accessKey =
    options.accessKey === undefined
      ? await ask.text('Access key', { defaultAnswer: io.env.CODESIGN_ACCESS_KEY || undefined, accept: readKey })
      : checkAccessKey(options.accessKey, KEY_OPTION);
  const accessSecret = await ask.secret('Access secret', (answer) => readAccessSecret(answer, 'the access secret'));
  return { baseUrl, accessKey, accessSecret };
}

async function readFrom(options: OptionsOf<'login'>, { settings }: CredentialsComposition, io: Io): Promise<Given> {
  const { stdin, env } = io;
  const accessKey = options.accessKey ?? (env.CODESIGN_ACCESS_KEY || undefined);
  // A terminal would show the secret while the user types it.
  const isTerminal = 'isTTY' in stdin && stdin.isTTY === true;
  if (accessKey === undefined || isTerminal) throw cliErrors('no-terminal', { instead: WITHOUT_TERMINAL });
  if (settings.baseUrl === undefined) throw missingSettings(['baseUrl'], env);
  checkAccessKey(accessKey, KEY_OPTION);
  return { baseUrl: settings.baseUrl, accessKey, accessSecret: await readSecretLine(stdin) };
}

async function readSecretLine(stdin: Readable): Promise<Secret> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > LARGEST_SECRET) {
      throw settingsErrors('access-secret-invalid', { source: SOURCE, problem: 'is longer than a secret' });
    }
    chunks.push(bytes);
  }
  return readAccessSecret(secretIn(Buffer.concat(chunks).toString('utf8')), SOURCE);
}

/** On a terminal, prompts for a file of root certificates until the service's TLS certificate is trusted. */
async function checkUntilTrusted(
  given: Given,
  options: OptionsOf<'login'> & ProfileOptions,
  lines: Lines,
  io: Io,
): Promise<{ readonly caFile: string | undefined } | { readonly exitCode: number }> {
  const { check } = await composeCredentialsCommand(options, io.env, { mayBeNew: true });
  try {
    const { warnings } = await check(given.baseUrl, given);
    for (const warning of warnings) lines.warning(warning);
    return { caFile: options.caFile };
  } catch (thrown) {
    const error = toCodesignError(thrown);
    const caFile = error.code === 'tls-untrusted' && canAsk(io) ? await askForRoots(error, io) : '';
    if (caFile !== '') return await checkUntilTrusted(given, { ...options, caFile }, lines, io);
    const exitCode = fail(error, options.verbose ? ['--verbose'] : [], io);
    lines.print(`nothing was stored${adviceAfter(error)}`);
    return { exitCode };
  }
}

function adviceAfter({ code, category }: CodesignError): string {
  if (code === 'unauthorized') return '; run login again';
  return category === 'network' ? '; --no-check stores without asking the service' : '';
}

/** Warns instead of replacing a different URL in the profile. */
async function storeAddress({ settings, profiles }: CredentialsComposition, baseUrl: URL, lines: Lines): Promise<void> {
  const { profile, environment, storedAddress } = settings;
  const address = addressOf(baseUrl);
  if (storedAddress === undefined) {
    await profiles.set(profile, `environments.${environment}`, [address]);
    lines.result(`stored   the address ${address} in ${profileText(settings)}`);
  } else if (parseBaseUrl(storedAddress, profiles.path).origin !== baseUrl.origin) {
    const command = `codesign-remote config set --profile ${profile} environments.${environment} ${address}`;
    lines.warning(cliWarnings('other-address-stored', { profile, stored: storedAddress, command }));
  }
}

/** A file that the user enters at the prompt replaces the one in the profile. A file from an option does not. */
async function storeRoots(
  caFile: string | undefined,
  isAnswer: boolean,
  { settings, profiles }: CredentialsComposition,
  lines: Lines,
) {
  const { profile } = settings;
  if (caFile === undefined || (!isAnswer && profiles.read(profile).values.has('caFile'))) return;
  await profiles.set(profile, 'caFile', [caFile]);
  lines.result(`stored   caFile ${caFile} in profile ${profile}`);
}

function addressOf(baseUrl: URL): string {
  return baseUrl.href.replace(/\/$/, '');
}

export async function logout(options: OptionsOf<'logout'>, io: Io): Promise<number> {
  const lines = new Lines(io, options);
  const { settings, keychain, file } = await composeCredentialsCommand(options, io.env, { mayBeNew: true });
  const { removeFileEntry } = await import('../../options/credentials/credentials-file.ts');
  const profile = profileText(settings);
  const wereInFile = await removeFileEntry(file, settings);
  if (wereInFile) lines.result(`removed  the credentials of ${profile} from ${shown(file)}`);
  const wereInKeychain = await keychain.remove(accountName(settings)).catch((thrown: unknown) => {
    if (wereInFile && isWithoutKeychain(thrown)) return false;
    throw thrown;
  });
  if (wereInKeychain) lines.result(`removed  the credentials of ${profile} from the keychain`);
  else if (!wereInFile) lines.result(`nothing  the keychain has no credentials of ${profile}`);
  if (hasCredentials(io.env)) lines.warning(cliWarnings('environment-stays'));
  return 0;
}

/** A user may have typed a secret after -p by mistake, so the name of a new profile is omitted. */
function profileText(settings: CredentialsComposition['settings']): string {
  return settings.isNewProfile && settings.profile !== DEFAULT_PROFILE
    ? 'a new profile'
    : `profile ${accountText(settings)}`;
}

export async function whoami(options: OptionsOf<'whoami'>, io: Io): Promise<number> {
  const lines = new Lines(io, options);
  const composition = await composeCredentialsCommand(options, io.env, { mayBeNew: false });
  const { profile, baseUrl } = composition.settings;
  const credentials = await composition.read();
  const { file } = composition;
  const places = { environment: 'the environment', file, keychain: "the operating system's keychain" };
  const { source, origin } = credentials;
  const accessKey = maskedKey(credentials.accessKey);
  // The keychain contains only the origin of the service's URL, without the path.
  const address = baseUrl ?? (origin === undefined ? undefined : new URL(origin));
  if (options.check && address === undefined) throw missingSettings(['baseUrl'], io.env);
  const checked = options.check && address ? await composition.check(address, credentials) : undefined;
  const warnings = [...credentials.warnings, ...(checked?.warnings ?? [])];
  if (options.json) {
    const check =
      checked === undefined
        ? null
        : { accepted: true, httpStatus: checked.httpStatus, serviceCode: checked.serviceCode ?? null };
    const service = address?.origin ?? null;
    io.stdout.write(jsonText({ profile, origin: service, accessKey, source, check, warnings }));
  } else {
    lines.result(`profile     ${profile}`);
    lines.result(`service     ${address?.origin ?? 'not known: --base-url'}`);
    lines.result(`access key  ${shown(accessKey)}`);
    lines.result(`from        ${shown(places[source])}`);
    if (checked !== undefined) lines.result('check       accepted, as far as the service reports');
  }
  for (const warning of warnings) lines.warning(warning);
  return 0;
}
