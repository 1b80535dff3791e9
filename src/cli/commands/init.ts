import { nameProfile } from '../../app/compose-config.ts';
import { isExecutable } from '../../bytes/executable.ts';
import { dateOf } from '../../certificates/signing-chain.ts';
import { printable } from '../../errors/printable.ts';
import { hasCredentials } from '../../options/credentials/credentials.ts';
import { lookUp, NOTHING_STORED } from '../../options/lookup.ts';
import { checkName, DEFAULT_PROFILE, openProfiles, type Profiles } from '../../options/stored/profiles.ts';
import { OPTIONS, type OptionsOf, type SettingKey } from '../../options/table.ts';
import { cliErrors } from '../errors.ts';
import { canAsk, openAsk } from '../input/ask.ts';
import { type Answers, askForAll, checkSuggested, type Suggested } from '../input/init-answers.ts';
import type { Io } from '../io.ts';
import { Lines, maskedAddress, shown, writeLines } from '../output/lines.ts';

const DEFAULT_ENVIRONMENT = OPTIONS.environment.default;
const WITHOUT_TERMINAL =
  'Name what to store: codesign-remote init --yes --base-url <url> --code <number> --certificate <file> --timestamp-url <url> (or --no-timestamp).';

export async function init(options: OptionsOf<'init'>, io: Io): Promise<number> {
  const { name, from } = nameProfile(options, io.env);
  checkName(name, from);
  const environment = (options.environment ?? io.env.CODESIGN_ENVIRONMENT) || DEFAULT_ENVIRONMENT;
  checkName(environment, '--environment');
  const store = lookUp(options, io.env, { ...NOTHING_STORED }).read('store');
  const profiles = await openProfiles(io.env);
  const suggested = suggest(options, io, profiles, { name, environment });
  const { answers, wantsLogin } = await answer(suggested, { ...options, name, path: profiles.path }, io);
  await profiles.setAll(
    name,
    new Map([
      [`environments.${environment}`, [answers.baseUrl]],
      ['code', [answers.code]],
      ['certificate', answers.certificate],
      ['timestampUrl', answers.timestampUrl],
      ['caFile', answers.caFile === undefined ? [] : [answers.caFile]],
    ]),
  );
  printStored(answers, { name, environment, path: profiles.path, wantsLogin, store }, io);
  const exitCode = wantsLogin
    ? await (await import('./credentials.ts')).login(
        { profile: name, environment, baseUrl: answers.baseUrl, store },
        io,
      )
    : 0;
  const { doctor } = await import('./doctor.ts');
  await doctor({ profile: name, environment, offline: options.offline, timestamp: options.timestamp }, io);
  return exitCode;
}

/** Without a terminal, values from the environment and the profile are used only with --yes. */
async function answer(
  suggested: Suggested,
  options: OptionsOf<'init'> & { readonly name: string; readonly path: string },
  io: Io,
): Promise<{ readonly answers: Answers; readonly wantsLogin: boolean }> {
  const { yes = false, baseUrl, code, certificate, name, path } = options;
  if (!yes && canAsk(io)) {
    using ask = openAsk(io, WITHOUT_TERMINAL);
    writeLines(
      io.stderr,
      [`init asks for the settings of profile ${name}, checks them, and stores them in ${shown(path)}.`],
      io,
    );
    const answers = await askForAll(suggested, ask, io);
    const isKnown = hasCredentials(io.env);
    return {
      answers,
      wantsLogin: !isKnown && (await ask.confirm('Continue with login, to store your credentials?', true)),
    };
  }
  const isGiven = baseUrl !== undefined && code !== undefined && certificate !== undefined;
  if (!yes && !isGiven) throw cliErrors('no-terminal', { instead: WITHOUT_TERMINAL });
  return { answers: await checkSuggested(suggested, io.env), wantsLogin: false };
}

function suggest(
  options: OptionsOf<'init'>,
  io: Io,
  profiles: Profiles,
  { name, environment }: { readonly name: string; readonly environment: string },
): Suggested {
  const profile = profiles.has(name) ? profiles.read(name) : { ...NOTHING_STORED.profile, name };
  const stored = { project: undefined, profile };
  const look = lookUp({ ...options, environment: undefined }, { ...io.env, CODESIGN_ENVIRONMENT: undefined }, stored);
  const address = options.baseUrl ?? (io.env.CODESIGN_BASE_URL || profile.environments.get(environment));
  const hasTimestamps = options.timestamp ?? true;
  const valuesOf = (key: SettingKey): readonly string[] => look.all(key).map(({ value }) => value);
  return {
    baseUrl: { values: address === undefined ? [] : [address], isGiven: options.baseUrl !== undefined },
    code: { values: valuesOf('code'), isGiven: options.code !== undefined },
    certificate: { values: valuesOf('certificate'), isGiven: options.certificate !== undefined },
    timestampUrl: {
      values: hasTimestamps ? valuesOf('timestampUrl') : [],
      isGiven: options.timestampUrl !== undefined || !hasTimestamps,
    },
    caFile: look.one('caFile')?.value,
  };
}

interface Stored {
  readonly name: string;
  readonly environment: string;
  readonly path: string;
  readonly wantsLogin: boolean;
  readonly store: 'keychain' | 'file';
}

function printStored(
  { baseUrl, code, chain, timestampUrl }: Answers,
  { name, environment, path, wantsLogin, store }: Stored,
  io: Io,
): void {
  const lines = new Lines(io, {});
  for (const warning of chain.warnings) lines.warning(warning);
  const print = (text: string): void => lines.result(printable(text, 4096));
  const profile = name === DEFAULT_PROFILE ? '' : ` --profile ${name}`;
  const chosen = environment === DEFAULT_ENVIRONMENT ? '' : ` --environment ${environment}`;
  print(`stored   profile ${name}, ${path}`);
  print(
    `         ${baseUrl} (${environment}), certificate ${code}: "${chain.leaf.name}", until ${dateOf(chain.leaf.notAfter)}`,
  );
  print(
    `         ${timestampUrl.length > 0 ? `timestamps by ${timestampUrl.map(maskedAddress).join(', ')}` : 'without timestamps'}`,
  );
  // A single executable cannot use the keychain.
  const toFile = store === 'file' || isExecutable();
  const login = `login${profile}${chosen}${toFile ? ' --store file' : ''}`;
  const place = toFile ? 'a file that only you can read' : 'the keychain';
  if (!wantsLogin) print(`next     codesign-remote ${login}  stores your credentials in ${place}`);
  print(
    `${wantsLogin ? 'next    ' : '        '} codesign-remote sign${profile}${chosen} app.exe  signs; try it with --dry-run first, which sends nothing`,
  );
}
