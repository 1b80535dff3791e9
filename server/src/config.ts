import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { suggest } from '../../src/options/suggest.ts';
import { reasonOf, ServerError } from './errors.ts';
import { checkTokenPath } from './keys/softhsm.ts';
import { defaultDataRoot } from './setup/data-folder.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

type Texts<Name extends string> = { readonly [name in Name]?: string };
export type DataOptions = Texts<'config' | 'data' | 'database' | 'pkcs11Library' | 'pkcs11Token' | 'pkcs11PinFile'>;
export type StartOptions = DataOptions &
  Texts<'host' | 'port' | 'clientEnv' | 'tlsCert' | 'tlsKey' | 'logLevel'> & { readonly tlsName?: readonly string[] };

const A_TEXT = 'a non-empty string';
const text = v.pipe(v.string(A_TEXT), v.nonEmpty(A_TEXT));

const A_HOST = 'a DNS name or an IP address';
const host = v.pipe(v.string(A_HOST), v.check(isHost, A_HOST));

const A_NETWORK = 'an IP address, or a network such as 10.0.0.0/8';
const network = v.pipe(v.string(A_NETWORK), v.check(isNetwork, A_NETWORK));

const A_LABEL = 'a label of at most 32 ASCII characters';
const label = v.pipe(v.string(A_LABEL), v.regex(/^[\x20-\x7e]{1,32}$/, A_LABEL));

const A_DATABASE = 'an address that begins with postgres://';
const database = v.pipe(v.string(A_DATABASE), v.regex(/^postgres(ql)?:\/\//, A_DATABASE));

function wholeNumber(from: number, to: number) {
  const expected = `a whole number from ${from} to ${to}`;
  const digits = v.pipe(v.string(), v.regex(/^\d+$/), v.transform(Number));
  const number = v.union([v.number(), digits], expected);
  return v.pipe(number, v.integer(expected), v.minValue(from, expected), v.maxValue(to, expected));
}

/** All settings, by their path in the configuration file. Each message describes the valid values. */
const schema = v.strictObject(
  {
    data: v.exactOptional(text),
    database: v.exactOptional(database),
    host: v.exactOptional(host),
    port: v.exactOptional(wholeNumber(0, 65_535)),
    proxy: v.exactOptional(v.array(network, 'a list')),
    logLevel: v.exactOptional(v.picklist(LOG_LEVELS, `one of ${LOG_LEVELS.join(', ')}`)),
    'tls.certificate': v.exactOptional(text),
    'tls.key': v.exactOptional(text),
    'tls.names': v.exactOptional(v.array(host, 'a list')),
    'pkcs11.library': v.exactOptional(text),
    'pkcs11.token': v.exactOptional(label),
    'pkcs11.pinFile': v.exactOptional(text),
    'pkcs11.sessions': v.exactOptional(wholeNumber(1, 1024)),
    'limits.waiting': v.exactOptional(wholeNumber(0, 100_000)),
  },
  'a setting',
);
type Settings = v.InferOutput<typeof schema>;
type Key = keyof Settings;
/** Relative paths in the configuration file are resolved from the folder of this file. */
const PATHS = ['data', 'tls.certificate', 'tls.key', 'pkcs11.library', 'pkcs11.pinFile'] as const;

/** Settings that are also options of `start`, or environment variables. */
const SOURCES: Partial<Record<Key, { readonly option: keyof StartOptions; readonly variable?: string }>> = {
  data: { option: 'data', variable: 'CODESIGN_SERVER_DATA' },
  database: { option: 'database', variable: 'CODESIGN_SERVER_DATABASE' },
  host: { option: 'host', variable: 'CODESIGN_SERVER_HOST' },
  port: { option: 'port', variable: 'CODESIGN_SERVER_PORT' },
  logLevel: { option: 'logLevel' },
  'tls.certificate': { option: 'tlsCert' },
  'tls.key': { option: 'tlsKey' },
  'tls.names': { option: 'tlsName' },
  'pkcs11.library': { option: 'pkcs11Library', variable: 'CODESIGN_SERVER_PKCS11_LIBRARY' },
  'pkcs11.token': { option: 'pkcs11Token', variable: 'CODESIGN_SERVER_PKCS11_TOKEN' },
  'pkcs11.pinFile': { option: 'pkcs11PinFile', variable: 'CODESIGN_SERVER_PKCS11_PIN_FILE' },
};

export type Config = ReturnType<typeof readConfig>;

export function readConfig(options: StartOptions, environment: NodeJS.ProcessEnv) {
  const path = options.config ?? (environment.CODESIGN_SERVER_CONFIG || undefined);
  const settings: Settings = {
    ...(path === undefined ? {} : fromFile(path)),
    ...fromEnvironment(environment),
    ...fromOptions(options),
  };
  const dataRoot = settings.data ?? defaultDataRoot(environment, process.platform);
  if (settings['pkcs11.token'] === undefined) checkTokenPath(dataRoot);
  const { 'tls.certificate': certificate, 'tls.key': key } = settings;
  if ((certificate === undefined) !== (key === undefined)) throw new ServerError('tls-pair-incomplete');
  return {
    dataRoot,
    /** A `postgres://` URL; undefined if SQLite in the data folder is used. */
    database: settings.database,
    pkcs11Library: settings['pkcs11.library'],
    /** Label of a token in the operator's HSM; undefined if SoftHSM's token in the data folder is used. */
    pkcs11Token: settings['pkcs11.token'],
    pkcs11PinFile: settings['pkcs11.pinFile'],
    pkcs11Sessions: settings['pkcs11.sessions'],
    host: settings.host ?? '127.0.0.1',
    /** Port 0 selects a free port. */
    port: settings.port ?? 8443,
    /** Addresses of proxies whose X-Forwarded-For header is trusted. */
    proxy: settings.proxy ?? [],
    clientEnv: options.clientEnv,
    tls: certificate === undefined || key === undefined ? undefined : { certificate, key },
    /** Host names that clients use in addition to localhost. The first name becomes part of their base URL. */
    tlsNames: settings['tls.names'] ?? [],
    logLevel: settings.logLevel ?? 'info',
    /** A slow HSM with a few hundred signatures per second handles 256 waiting calls in about a second. */
    waiting: settings['limits.waiting'] ?? 256,
  };
}

function fromOptions(options: StartOptions): Settings {
  const values = Object.entries(SOURCES).map(([key, { option }]) => [key, options[option]] as const);
  const nameOf = (key: Key) => `--${SOURCES[key]?.option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  return checkedValues(values, nameOf);
}

const PREFIX = 'CODESIGN_SERVER_';

/** With a misspelt environment variable, the server could use the wrong database. */
function rejectMistyped(environment: NodeJS.ProcessEnv): void {
  const settings = Object.values(SOURCES).flatMap(({ variable = [] }) => variable);
  const known = [...settings, `${PREFIX}CONFIG`, `${PREFIX}PKCS11_PIN`].map((name) => name.slice(PREFIX.length));
  for (const name of Object.keys(environment)) {
    const word = name.slice(PREFIX.length);
    const nearest = name.startsWith(PREFIX) && !known.includes(word) ? suggest(word, known) : undefined;
    if (nearest !== undefined) throw new ServerError('variable-unknown', { name, nearest: PREFIX + nearest });
  }
}

function fromEnvironment(environment: NodeJS.ProcessEnv): Settings {
  rejectMistyped(environment);
  const values = Object.entries(SOURCES).map(
    ([key, { variable = '' }]) => [key, environment[variable] || undefined] as const,
  );
  return checkedValues(values, (key) => SOURCES[key]?.variable ?? key);
}

function checkedValues(
  values: readonly (readonly [key: string, value: unknown])[],
  nameOf: (key: Key) => string,
): Settings {
  const parsed = v.safeParse(schema, Object.fromEntries(values.filter(([, value]) => value !== undefined)));
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const key = issue.path?.[0]?.key as Key;
  // The message omits the URL, because it may contain a password.
  if (key === 'database') throw new ServerError('database-address-unknown');
  throw new ServerError('invalid-option', { option: nameOf(key), value: String(issue.input), expected: issue.message });
}

function fromFile(path: string): Settings {
  const invalid = (key: string, reason: string, cause?: unknown) =>
    new ServerError('config-invalid', { path, key, reason }, cause);
  const file = readJson(path, invalid);
  if (!isObject(file)) throw invalid('the whole', 'is not an object');
  const sections = Object.entries(file).map(([section, value]) =>
    isObject(value) ? Object.entries(value).map(([key, inner]) => [`${section}.${key}`, inner]) : [[section, value]],
  );
  const parsed = v.safeParse(schema, Object.fromEntries(sections.flat()));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const key = v.getDotPath(issue) ?? 'the whole';
    const nearest = issue.type === 'strict_object' ? suggest(key, Object.keys(schema.entries)) : undefined;
    const reasons = [`is not ${issue.message}`, ...(nearest === undefined ? [] : [`the nearest is ${nearest}`])];
    throw invalid(key, reasons.join('; '));
  }
  const settings = parsed.output;
  for (const key of PATHS) if (settings[key] !== undefined) settings[key] = resolve(dirname(path), settings[key]);
  return settings;
}

function readJson(path: string, invalid: (key: string, reason: string, cause: unknown) => ServerError): unknown {
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ServerError('config-unreadable', { path }, error);
  }
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (error) {
    // The rest of the message quotes the file, which may contain a password.
    const position = / at position \d+( \(line \d+ column \d+\))?/.exec(reasonOf(error))?.[0] ?? '';
    throw invalid('the whole', `is not JSON${position}`, error);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNetwork(value: string): boolean {
  const [address = '', bits = '1', ...others] = value.split('/');
  const most = { 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return !address.includes('%') && others.length === 0 && /^[1-9]\d*$/.test(bits) && Number(bits) <= most;
}

function isHost(value: string): boolean {
  const part = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  return isIP(value) !== 0 || (value.length <= 253 && new RegExp(`^${part}(\\.${part})*$`).test(value));
}
