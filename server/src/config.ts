/** The server's settings: option, environment, configuration file, default, in this order; checked and frozen. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { reasonOf, ServerError } from './errors.ts';
import { checkTokenPath } from './keys/softhsm.ts';
import { defaultDataRoot } from './setup/data-folder.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Options as the command line gives them. */
export interface DataOptions {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
  readonly pkcs11Library?: string;
  readonly pkcs11Token?: string;
  readonly pkcs11PinFile?: string;
}

export interface StartOptions extends DataOptions {
  readonly host?: string;
  readonly port?: string;
  readonly clientEnv?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsName?: readonly string[];
  readonly tsa?: boolean;
  readonly logLevel?: string;
}

export type DataConfig = ReturnType<typeof dataSettings>;
export type StartConfig = ReturnType<typeof startConfig>;

/** An HSM that makes some hundred signatures a second does these within a second or so. */
const WAITING = 256;
/** Far longer than an HSM takes, so that only calls of servers that were killed lose their place. */
const LEASE_SECONDS = 60;

export function dataConfig(options: DataOptions, environment: NodeJS.ProcessEnv): DataConfig {
  return dataSettings(options, environment, fileOf(options, environment));
}

/** @throws `invalid-option`, `tls-pair-incomplete`, `config-unreadable`, `config-invalid` */
export function startConfig(options: StartOptions, environment: NodeJS.ProcessEnv) {
  const file = fileOf(options, environment);
  const given = options.tlsCert !== undefined || options.tlsKey !== undefined;
  const { certificate, key } = given ? { certificate: options.tlsCert, key: options.tlsKey } : (file.tls ?? {});
  if ((certificate === undefined) !== (key === undefined)) throw new ServerError('tls-pair-incomplete');
  const tlsNames = options.tlsName ?? file.tls?.names ?? [];
  for (const name of tlsNames) checkName(options.tlsName === undefined ? 'tls.names' : '--tls-name', name);
  const host = options.host ?? (environment.CODESIGN_SERVER_HOST || (file.host ?? '127.0.0.1'));
  checkName('--host', host);
  const port = options.port ?? (environment.CODESIGN_SERVER_PORT || String(file.port ?? 8443));
  check('--port', port, /^\d{1,5}$/.test(port) && Number(port) <= 65_535, 'a number from 0 to 65535');
  const tsa = environment.CODESIGN_SERVER_TSA || (file.tsa ? '1' : '0');
  const readable = options.tsa !== undefined || ['0', '1'].includes(tsa);
  check('CODESIGN_SERVER_TSA', tsa, readable, '1 (on) or 0 (off)');
  const logLevel = options.logLevel ?? file.logLevel ?? 'info';
  const level = LOG_LEVELS.find((known) => known === logLevel);
  check('--log-level', logLevel, level !== undefined, `one of ${LOG_LEVELS.join(', ')}`);
  return Object.freeze({
    ...dataSettings(options, environment, file),
    host,
    /** 0: a free one. */
    port: Number(port),
    clientEnv: options.clientEnv,
    tls: certificate === undefined || key === undefined ? undefined : { certificate, key },
    /** Names that clients use, besides localhost; the first one is in the address given to clients. */
    tlsNames,
    tsa: options.tsa ?? tsa === '1',
    logLevel: level ?? 'info',
    /** How many signatures may wait for a session of the HSM. */
    waiting: file.limits?.waiting ?? WAITING,
    /** How long a call may hold a place of the quota, in milliseconds. */
    lease: 1000 * (file.limits?.leaseSeconds ?? LEASE_SECONDS),
  });
}

function dataSettings(options: DataOptions, environment: NodeJS.ProcessEnv, file: ConfigFile) {
  const either = (option: string | undefined, variable: string, inFile: string | undefined) =>
    option ?? (environment[`CODESIGN_SERVER_${variable}`] || inFile);
  const pkcs11Token = either(options.pkcs11Token, 'PKCS11_TOKEN', file.pkcs11?.token);
  if (pkcs11Token !== undefined) {
    const valid = /^[\x20-\x7e]{1,32}$/.test(pkcs11Token);
    check('--pkcs11-token', pkcs11Token, valid, 'a label of at most 32 characters of ASCII');
  }
  const dataRoot = either(options.data, 'DATA', file.data) ?? defaultDataRoot(environment, process.platform);
  if (pkcs11Token === undefined) checkTokenPath(dataRoot);
  const database = either(options.database, 'DATABASE', file.database);
  // The value is not in the message: it may hold a password.
  if (database !== undefined && !/^postgres(ql)?:\/\//.test(database))
    throw new ServerError('database-address-unknown');
  return Object.freeze({
    /** The folder that `--data` names. */
    dataRoot,
    /** `postgres://…`; undefined: SQLite in the data folder. */
    database,
    pkcs11Library: either(options.pkcs11Library, 'PKCS11_LIBRARY', file.pkcs11?.library),
    /** A token of the operator's own HSM; undefined: one of SoftHSM's in the data folder. */
    pkcs11Token,
    pkcs11PinFile: either(options.pkcs11PinFile, 'PKCS11_PIN_FILE', file.pkcs11?.pinFile),
    /** Limit of concurrent HSM operations; undefined: depends on the number of cores. */
    pkcs11Sessions: file.pkcs11?.sessions,
  });
}

function check(option: string, value: string, valid: boolean, expected: string): void {
  if (!valid) throw new ServerError('invalid-option', { option, value, expected });
}

function checkName(option: string, value: string): void {
  const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const valid = isIP(value) !== 0 || (value.length <= 253 && new RegExp(`^${label}(\\.${label})*$`).test(value));
  check(option, value, valid, 'a DNS name or an IP address');
}

const text = v.pipe(v.string('is not a text'), v.minLength(1, 'is empty'));
const whole = (from: number, to: number) => {
  const expected = `is not a whole number from ${from} to ${to}`;
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(from, expected), v.maxValue(to, expected));
};
/** An object without other keys; valibot would accept a list as an empty one. */
const object = <T extends v.ObjectEntries>(entries: T) =>
  v.pipe(
    v.custom<object>((value) => !Array.isArray(value), 'is not an object'),
    v.strictObject(entries, 'is not an object'),
  );

/** The configuration file; every key may be left out. Nothing in it is a secret except a password in `database`. */
const schema = object({
  data: v.optional(text),
  host: v.optional(text),
  port: v.optional(whole(0, 65_535)),
  database: v.optional(text),
  tls: v.optional(
    object({ certificate: v.optional(text), key: v.optional(text), names: v.optional(v.array(text, 'is not a list')) }),
  ),
  tsa: v.optional(v.boolean('is neither true nor false')),
  logLevel: v.optional(v.picklist(LOG_LEVELS, `is not one of ${LOG_LEVELS.join(', ')}`)),
  pkcs11: v.optional(
    object({
      library: v.optional(text),
      token: v.optional(text),
      pinFile: v.optional(text),
      sessions: v.optional(whole(1, 1024)),
    }),
  ),
  limits: v.optional(object({ waiting: v.optional(whole(0, 100_000)), leaseSeconds: v.optional(whole(1, 3600)) })),
});
type ConfigFile = v.InferOutput<typeof schema>;

/** Reads the configuration file, if one is named; relative paths in it start at its folder. */
function fileOf({ config }: DataOptions, environment: NodeJS.ProcessEnv): ConfigFile {
  const path = config ?? (environment.CODESIGN_SERVER_CONFIG || undefined);
  if (path === undefined) return {};
  const parsed = v.safeParse(schema, parse(path));
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const key = v.getDotPath(issue) ?? 'the whole';
    const reason = issue.type === 'strict_object' && issue.expected === 'never' ? 'is not a setting' : issue.message;
    throw new ServerError('config-invalid', { path, key, reason });
  }
  const { data, tls, pkcs11, ...others } = parsed.output;
  const from = (file: string | undefined) => (file === undefined ? undefined : resolve(dirname(path), file));
  return {
    ...others,
    data: from(data),
    tls: tls && { ...tls, certificate: from(tls.certificate), key: from(tls.key) },
    pkcs11: pkcs11 && { ...pkcs11, library: from(pkcs11.library), pinFile: from(pkcs11.pinFile) },
  };
}

function parse(path: string): unknown {
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ServerError('config-unreadable', { path, reason: reasonOf(error) }, error);
  }
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ServerError('config-invalid', { path, key: 'the whole', reason: 'is not JSON' }, error);
  }
}
