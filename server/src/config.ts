/** The server's settings: option, then environment, then default; checked, and frozen from then on. */

import { isIP } from 'node:net';
import { serverError } from './errors.ts';
import { checkTokenPath } from './keys/softhsm.ts';
import { defaultDataRoot } from './setup/data-folder.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

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
  readonly data?: string;
  readonly pkcs11Library?: string;
}

export interface DataConfig {
  /** The folder that `--data` names. */
  readonly dataRoot: string;
  readonly pkcs11Library: string | undefined;
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
}

export function dataConfig(options: DataOptions, environment: NodeJS.ProcessEnv): DataConfig {
  const dataRoot = options.data ?? (environment.CODESIGN_SERVER_DATA || defaultDataRoot(environment, process.platform));
  checkTokenPath(dataRoot);
  return {
    dataRoot,
    pkcs11Library: options.pkcs11Library ?? (environment.CODESIGN_SERVER_PKCS11_LIBRARY || undefined),
  };
}

/** @throws `invalid-option`, `tls-pair-incomplete` */
export function startConfig(options: StartOptions, environment: NodeJS.ProcessEnv): StartConfig {
  const { tlsCert, tlsKey } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw serverError('tls-pair-incomplete');
  const tlsNames = options.tlsName ?? [];
  for (const name of tlsNames) checkName('--tls-name', name);
  const host = options.host ?? (environment.CODESIGN_SERVER_HOST || '127.0.0.1');
  checkName('--host', host);
  return Object.freeze({
    ...dataConfig(options, environment),
    host,
    port: readPort(options.port ?? (environment.CODESIGN_SERVER_PORT || '8443')),
    clientEnv: options.clientEnv,
    tls: tlsCert === undefined || tlsKey === undefined ? undefined : { certificate: tlsCert, key: tlsKey },
    tlsNames,
    tsa: options.tsa ?? readSwitch('CODESIGN_SERVER_TSA', environment.CODESIGN_SERVER_TSA),
    logLevel: readLogLevel(options.logLevel ?? 'info'),
  });
}

function readPort(value: string): number {
  const port = Number(value);
  if (!/^\d{1,5}$/.test(value) || port > 65_535) {
    throw serverError('invalid-option', { option: '--port', value, expected: 'a number from 0 to 65535' });
  }
  return port;
}

function readSwitch(variable: string, value = ''): boolean {
  if (!['', '0', '1'].includes(value)) {
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
