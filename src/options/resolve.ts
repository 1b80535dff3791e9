/** The settings of a command: checked values of its options, and settings that several options decide together. */

import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { toCodesignError } from '../errors/codesign-error.ts';
import { type HttpProxy, type Proxies, readExceptions, type UnusableProxy } from '../http/proxy.ts';
import { CREDENTIAL_VARIABLES } from './credentials/credentials.ts';
import { settingsErrors } from './errors.ts';
import { type Lookup, lookUp, NOTHING_STORED, refuseConflicts, type Stored } from './lookup.ts';
import type { CommandName } from './option.ts';
import type { Environment } from './options.ts';
import { definitionOf, type OptionKey, type OptionsOf, optionsOf, type ValuesOf } from './table.ts';
import { type Given, readProxyVariable } from './values.ts';
import { emptyVariables, listed } from './variables.ts';

export type Resolved<Command extends CommandName> = ValuesOf<Command> & {
  /** Tells the origin of values, and reads settings that are not options of the command. */
  readonly look: Lookup;
  /** Called only when a request is to be sent. Throws `proxy-invalid`, `proxy-holds-credentials`. */
  proxies(): Proxies;
};

/** Throws `settings-conflict`, `invalid-setting`, `environment-unknown` and the errors of addresses. */
export function resolve<Command extends CommandName>(
  command: Command,
  options: OptionsOf<Command>,
  env: Environment,
  stored: Stored = NOTHING_STORED,
): Resolved<Command> {
  refuseConflicts(command, options);
  const look = lookUp(options, env, stored, command);
  const values = Object.fromEntries(optionsOf(command).map(({ key }) => [key, look.read(key)]));
  // `Read` derives the type of each value from the table.
  return { ...(values as ValuesOf<Command>), look, proxies: () => resolveProxies(look, env) };
}

/**
 * Throws `proxy-invalid`, `proxy-holds-credentials`. ALL_PROXY is set for all programs of a machine, and often names a SOCKS
 * proxy: an unusable one counts only when a request would go through it.
 */
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

/** Prefers the name in lower case, as curl does. */
function variable(name: string, env: Environment): Given | undefined {
  const found = [name, name.toUpperCase()].find((one) => env[one]);
  return found === undefined ? undefined : { value: env[found] ?? '', name: found };
}

export type TimestampSettings = ReturnType<typeof resolveTimestamps>;

/**
 * `fallback`: the algorithm when none is given for timestamps. Throws `invalid-setting`, and if timestamps are required and none
 * can be requested: `setting-missing`, `settings-conflict`.
 */
export function resolveTimestamps(look: Lookup, fallback: DigestAlgorithm, env: Environment) {
  const isWanted = look.read('timestamp');
  const urls = isWanted ? look.read('timestampUrl') : [];
  if (look.read('requireTimestamp') && urls.length === 0) {
    if (isWanted) throw missingSettings(['timestampUrl'], env);
    throw settingsErrors('settings-conflict', { options: `--no-timestamp and ${look.one('requireTimestamp')?.name}` });
  }
  return {
    /** In the order they are tried; empty for no timestamp. */
    urls: [...new Map(urls.map((url) => [url.href, url])).values()],
    algorithm: look.read('timestampAlgorithm') ?? fallback,
    policy: look.read('timestampPolicy'),
    roots: look.read('timestampRoots'),
    /** The user chose to have no timestamp. */
    isDeclined: !isWanted,
  };
}

const CREDENTIALS =
  ' Credentials are needed as well: codesign-remote login keeps them, or set CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET.';

/**
 * The error for options that a command needs and that were not given: all of them in one. `hasCredentials` is false if the
 * environment has no credentials either, which would be the next error. `or`: an option to use instead.
 */
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
