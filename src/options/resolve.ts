import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { toCodesignError } from '../errors/codesign-error.ts';
import type { FormatOptions } from '../format/options.ts';
import { type HttpProxy, type Proxies, readExceptions, type UnusableProxy } from '../http/proxy.ts';
import { CREDENTIAL_VARIABLES, hasCredentials } from './credentials/credentials.ts';
import { settingsErrors } from './errors.ts';
import { resolveExtra } from './extra.ts';
import { type Lookup, lookUp, NOTHING_STORED, refuseConflicts, type Stored } from './lookup.ts';
import type { CommandName } from './option.ts';
import { FORMAT_OPTION_KEYS } from './table/formats.ts';
import { definitionOf, type Environment, type OptionKey, type OptionsOf, optionsOf, type ValuesOf } from './table.ts';
import { type Given, readProxyVariable } from './values.ts';
import { emptyVariables, listed } from './variables.ts';

export type Resolved<Command extends CommandName> = ValuesOf<Command> & {
  /** `look` also finds the origin of values, and settings that are not options of the command. */
  readonly look: Lookup;
  /** This function is called only if a request will be sent. */
  proxies(): Proxies;
};

export function resolve<Command extends CommandName>(
  command: Command,
  options: OptionsOf<Command>,
  env: Environment,
  stored: Stored = NOTHING_STORED,
): Resolved<Command> {
  refuseConflicts(command, options);
  const look = lookUp(options, env, stored, command);
  const values = Object.fromEntries(optionsOf(command).map(({ key }) => [key, look.read(key)]));
  return { ...(values as ValuesOf<Command>), look, proxies: () => resolveProxies(look, env) };
}

/** ALL_PROXY often contains a SOCKS proxy for other programs, so it is an error only when it is needed. */
export function resolveProxies(look: Lookup, env: Environment): Proxies {
  const exceptions = readExceptions(variable('no_proxy', env)?.value ?? '');
  const proxy = look.read('proxy');
  if (look.one('proxy')?.origin === '--proxy') return { https: proxy, http: proxy, exceptions };
  const all = variable('all_proxy', env);
  const fallback = all === undefined ? proxy : readOrRefuse(all);
  const [https, http] = [variable('https_proxy', env), variable('http_proxy', env)];
  return {
    https: https === undefined ? fallback : readProxyVariable(https),
    http: http === undefined ? fallback : readProxyVariable(http),
    exceptions,
  };
}

function readOrRefuse(given: Given): HttpProxy | UnusableProxy {
  try {
    return readProxyVariable(given);
  } catch (thrown) {
    return { refusal: toCodesignError(thrown) };
  }
}

/** Like curl, prefers the variable with the lower-case name. */
function variable(name: string, env: Environment): Given | undefined {
  const found = [name, name.toUpperCase()].find((one) => env[one]);
  return found === undefined ? undefined : { value: env[found] ?? '', name: found };
}

export type TimestampSettings = ReturnType<typeof resolveTimestamps>;

/** `fallback` is the algorithm for timestamps if none is set. */
export function resolveTimestamps(look: Lookup, fallback: DigestAlgorithm, env: Environment) {
  const isWanted = look.read('timestamp');
  const urls = isWanted ? look.read('timestampUrl') : [];
  if (look.read('requireTimestamp') && urls.length === 0) {
    if (isWanted) throw missingSettings(['timestampUrl'], env);
    throw settingsErrors('settings-conflict', { options: `--no-timestamp and ${look.one('requireTimestamp')?.name}` });
  }
  return {
    /** Authorities are tried in this order. The list is empty without timestamps. */
    urls: [...new Map(urls.map((url) => [url.href, url])).values()],
    algorithm: look.read('timestampAlgorithm') ?? fallback,
    policy: look.read('timestampPolicy'),
    roots: look.read('timestampRoots'),
    isDeclined: !isWanted,
  };
}

const CREDENTIALS =
  ' Credentials are needed as well: codesign-remote login keeps them, or set CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET.';

/** Returns one error for all settings that are missing. `or` is an option that the user can set instead. */
export function missingSettings(
  keys: readonly OptionKey[],
  env: Environment,
  { hasCredentials = true, or }: { readonly hasCredentials?: boolean; readonly or?: string } = {},
) {
  const missing = keys.map(definitionOf);
  const variables = missing.flatMap(({ variable }) => variable ?? []);
  const empty = emptyVariables([...variables, ...(hasCredentials ? [] : CREDENTIAL_VARIABLES)], env);
  return settingsErrors('setting-missing', {
    what: missing.map(({ help }) => `the ${help}`).join('; ') + (empty && ` (${empty})`),
    option: listed(missing.map(({ flag }) => flag)) + (or === undefined ? '' : ` or ${or}`),
    variable: listed(variables),
    besides: hasCredentials ? '' : CREDENTIALS,
  });
}

/** `skip` keeps a file that has an intact signature made with this certificate. */
export type ExistingSignatures = 'replace' | 'append' | 'skip' | 'skip-any';

export type SigningSettings = ReturnType<typeof resolveSigning>;

export function resolveSigning(options: OptionsOf<'sign'>, env: Environment, stored?: Stored) {
  const settings = resolve('sign', options, env, stored);
  const { look, dryRun, algorithm } = settings;
  const needed = dryRun ? (['certificate'] as const) : (['baseUrl', 'code', 'certificate'] as const);
  const missing = needed.filter((key) => look.one(key) === undefined);
  if (missing.length > 0) throw missingSettings(missing, env, { hasCredentials: dryRun || hasCredentials(env) });
  return {
    ...settings,
    timestamps: resolveTimestamps(look, algorithm, env),
    formatOptions: formatOptionsOf(settings),
    existing: existingOf(settings),
    extra: resolveExtra(settings.extra, settings.fileName),
  };
}

function formatOptionsOf(settings: Resolved<'sign'>): FormatOptions {
  return Object.fromEntries(FORMAT_OPTION_KEYS.flatMap((key) => (settings[key] ? [[key, settings[key]]] : [])));
}

function existingOf({ replace, append, skipSigned, skipAnySigned }: Resolved<'sign'>): ExistingSignatures | undefined {
  if (replace) return 'replace';
  if (append) return 'append';
  if (skipAnySigned) return 'skip-any';
  return skipSigned ? 'skip' : undefined;
}
