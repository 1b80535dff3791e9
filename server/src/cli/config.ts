/** The server's settings: option, then environment, then configuration file, then default; checked, and frozen from then on. */

import { isIP } from 'node:net';
import { serverError } from '../errors.ts';
import { checkTokenPath } from '../keys/softhsm.ts';
import { defaultDataRoot } from '../setup/data-folder.ts';
import { type ConfigFile, LOG_LEVELS, readConfigFile } from './config-file.ts';

export { LOG_LEVELS };

/** Options as the command line gives them: all text. */
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

export interface DataOptions {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
  readonly pkcs11Library?: string;
  readonly pkcs11Token?: string;
  readonly pkcs11PinFile?: string;
}

export interface DataConfig {
  /** The folder that `--data` names. */
  readonly dataRoot: string;
  /** `postgres://…`; undefined: SQLite in the data folder. */
  readonly database: string | undefined;
  readonly pkcs11Library: string | undefined;
  /** A token of the operator's own HSM; undefined: one of SoftHSM's in the data folder. */
  readonly pkcs11Token: string | undefined;
  readonly pkcs11PinFile: string | undefined;
  /** How many operations of the HSM may be under way at once; undefined: by the number of cores. */
  readonly pkcs11Sessions: number | undefined;
}

export interface StartConfig extends DataConfig {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  readonly clientEnv: string | undefined;
  readonly tls: { readonly certificate: string; readonly key: string } | undefined;
  /** Names that clients reach the server by, besides localhost; the first one stands in the address given to clients. */
  readonly tlsNames: readonly string[];
  /** Whether to serve timestamps too. */
  readonly tsa: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** How many signatures may wait for a session of the HSM. */
  readonly waiting: number;
  /** How long a call may hold a place of the quota, in milliseconds. */
  readonly lease: number;
}

/** Done within a second or so by an HSM that makes some hundred signatures a second. */
const WAITING = 256;
/** Far longer than an HSM takes, so that only calls of servers that are no more lose their place. */
const LEASE_SECONDS = 60;

export function dataConfig(options: DataOptions, environment: NodeJS.ProcessEnv): DataConfig {
  return dataSettings(options, environment, fileOf(options, environment));
}

/** @throws `invalid-option`, `tls-pair-incomplete`, `config-unreadable`, `config-invalid` */
export function startConfig(options: StartOptions, environment: NodeJS.ProcessEnv): StartConfig {
  const file = fileOf(options, environment);
  const given = options.tlsCert !== undefined || options.tlsKey !== undefined;
  const tls = given ? { certificate: options.tlsCert, key: options.tlsKey } : file.tls;
  const { certificate, key } = tls ?? {};
  if ((certificate === undefined) !== (key === undefined)) throw serverError('tls-pair-incomplete');
  const tlsNames = options.tlsName ?? file.tls?.names ?? [];
  for (const name of tlsNames) checkName(options.tlsName === undefined ? 'tls.names' : '--tls-name', name);
  const host = options.host ?? (environment.CODESIGN_SERVER_HOST || (file.host ?? '127.0.0.1'));
  checkName('--host', host);
  const inFile = file.tsa ?? false;
  return Object.freeze({
    ...dataSettings(options, environment, file),
    host,
    port: readPort(options.port ?? (environment.CODESIGN_SERVER_PORT || String(file.port ?? 8443))),
    clientEnv: options.clientEnv,
    tls: certificate === undefined || key === undefined ? undefined : { certificate, key },
    tlsNames,
    tsa: options.tsa ?? readSwitch('CODESIGN_SERVER_TSA', environment.CODESIGN_SERVER_TSA, inFile),
    logLevel: readLogLevel(options.logLevel ?? file.logLevel ?? 'info'),
    waiting: file.limits?.waiting ?? WAITING,
    lease: 1000 * (file.limits?.leaseSeconds ?? LEASE_SECONDS),
  });
}

function fileOf({ config }: DataOptions, environment: NodeJS.ProcessEnv): ConfigFile {
  const path = config ?? (environment.CODESIGN_SERVER_CONFIG || undefined);
  return path === undefined ? {} : readConfigFile(path);
}

function dataSettings(options: DataOptions, environment: NodeJS.ProcessEnv, file: ConfigFile): DataConfig {
  const either = (option: string | undefined, variable: string, inFile: string | undefined) =>
    option ?? (environment[`CODESIGN_SERVER_${variable}`] || inFile);
  const pkcs11Token = either(options.pkcs11Token, 'PKCS11_TOKEN', file.pkcs11?.token);
  if (pkcs11Token !== undefined && !/^[\x20-\x7e]{1,32}$/.test(pkcs11Token)) {
    const expected = 'a label of at most 32 characters of ASCII';
    throw serverError('invalid-option', { option: '--pkcs11-token', value: pkcs11Token, expected });
  }
  const dataRoot = either(options.data, 'DATA', file.data) ?? defaultDataRoot(environment, process.platform);
  if (pkcs11Token === undefined) checkTokenPath(dataRoot);
  return {
    dataRoot,
    database: readDatabase(either(options.database, 'DATABASE', file.database)),
    pkcs11Library: either(options.pkcs11Library, 'PKCS11_LIBRARY', file.pkcs11?.library),
    pkcs11Token,
    pkcs11PinFile: either(options.pkcs11PinFile, 'PKCS11_PIN_FILE', file.pkcs11?.pinFile),
    pkcs11Sessions: file.pkcs11?.sessions,
  };
}

/** The value is not in the message: it may hold a password. */
function readDatabase(value: string | undefined): string | undefined {
  if (value === undefined || /^postgres(ql)?:\/\//.test(value)) return value;
  throw serverError('database-address-unknown');
}

function readPort(value: string): number {
  const port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port > 65_535) {
    throw serverError('invalid-option', { option: '--port', value, expected: 'a number from 0 to 65535' });
  }
  return port;
}

function readSwitch(variable: string, value: string | undefined, otherwise: boolean): boolean {
  if (value === undefined || value === '') return otherwise;
  if (!['0', '1'].includes(value)) {
    throw serverError('invalid-option', { option: variable, value, expected: '1 (on) or 0 (off)' });
  }
  return value === '1';
}

function readLogLevel(value: string): (typeof LOG_LEVELS)[number] {
  const level = LOG_LEVELS.find((known) => known === value);
  if (level === undefined) {
    throw serverError('invalid-option', { option: '--log-level', value, expected: `one of ${LOG_LEVELS.join(', ')}` });
  }
  return level;
}

function checkName(option: string, value: string): void {
  const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const valid = isIP(value) !== 0 || new RegExp(`^${label}(\\.${label})*$`).test(value);
  if (!valid || value.length > 253) {
    throw serverError('invalid-option', { option, value, expected: 'a DNS name or an IP address' });
  }
}
