import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { printable } from './text.ts';

type Details = Readonly<Record<string, string | number | undefined>>;
type Message = string | ((details: Details) => string);
interface Definition {
  readonly exitCode: number;
  readonly message: Message;
  readonly hint: string;
}

const usage = (message: Message, hint: string): Definition => ({ exitCode: 2, message, hint });
const local = (message: Message, hint: string): Definition => ({ exitCode: 6, message, hint });

export const SERVER_ERRORS = {
  'invalid-option': usage(
    ({ option, value, expected }) => `${option} is ${JSON.stringify(value)}, which is not ${expected}`,
    'Use a valid value; --help lists the options and the names of their environment variables.',
  ),
  'config-unreadable': usage(
    ({ path, reason }) => `the configuration file ${path} cannot be read: ${reason}`,
    'Check --config and CODESIGN_SERVER_CONFIG.',
  ),
  'config-invalid': usage(
    ({ path, key, reason }) => `in the configuration file ${path}, ${key} ${reason}`,
    'server/docs/reference.md lists the settings.',
  ),
  'variable-unknown': usage(
    ({ name, nearest }) => `the environment variable ${name} is not a setting; the nearest is ${nearest}`,
    'Correct or remove the variable. server/docs/reference.md lists the variables.',
  ),
  'database-address-unknown': usage(
    'the address of the database does not begin with postgres://',
    'Use postgres://user@host/name with --database or CODESIGN_SERVER_DATABASE, or omit it for SQLite in the data folder.',
  ),
  'pin-missing': usage(
    ({ token }) => `there is no PIN for the token ${token}`,
    'Set --pkcs11-pin-file to a file with the PIN, or set CODESIGN_SERVER_PKCS11_PIN.',
  ),
  'pin-unreadable': usage(
    ({ path, reason }) => `the PIN file cannot be read: ${path} (${reason})`,
    'Check --pkcs11-pin-file and CODESIGN_SERVER_PKCS11_PIN_FILE.',
  ),
  'pin-rejected': usage(
    ({ token, reason }) => `the HSM rejected the PIN of the token ${token}: ${reason}`,
    'Correct the PIN, then restart the server or send it SIGHUP. The server does not retry a rejected PIN, because many HSMs lock after a few attempts.',
  ),
  'tls-pair-incomplete': usage(
    'only one of --tls-cert and --tls-key is given',
    'Use both or neither. Without them, the server creates a TLS certificate with its own CA.',
  ),
  'tls-file-unreadable': usage(
    ({ option, path, reason }) => `the file of ${option} cannot be read: ${path} (${reason})`,
    'Check --tls-cert and --tls-key, or tls.certificate and tls.key in the configuration file.',
  ),
  'tls-files-unusable': usage(
    ({ path, reason }) => `${path} cannot be used for TLS: ${reason}`,
    'Use PEM files: the certificate with its chain as --tls-cert, its private key without a passphrase as --tls-key.',
  ),
  'tls-key-mismatch': usage(
    ({ certificate, key, subject }) =>
      `the key in ${key} does not belong to the first certificate in ${certificate} (${subject})`,
    'Use the key of that certificate as --tls-key. In the file of --tls-cert, the server certificate must come first.',
  ),
  'nobody-to-hand-credentials-to': usage(
    ({ option }) => `the new credentials cannot be shown: standard error is not a terminal and ${option} is not given`,
    'Set that option to the path of a new file, or run the command in a terminal. Credentials are shown only once.',
  ),
  'client-env-exists': usage(
    ({ path }) => `the file for the credentials exists: ${path}`,
    'The file is never overwritten, because its credentials may still be in use. Use the path of a new file, or remove the existing file.',
  ),
  'client-env-not-writable': usage(
    ({ path, reason }) => `the file for the credentials cannot be written: ${path} (${reason})`,
    'Use a file in an existing folder that the current user may write to.',
  ),
  'data-folder-unusable': local(
    ({ path, reason }) => `the data folder cannot be used: ${path} (${reason})`,
    'Use a folder that the current user owns, on a disk with free space, with --data or CODESIGN_SERVER_DATA.',
  ),
  'files-unusable': local(
    ({ reason }) => `a file cannot be read or written: ${reason}`,
    'Check that the disk has free space, and that the current user may write to the folder.',
  ),
  'data-path-unfit': usage(
    ({ path, reason }) => `SoftHSM cannot keep keys below the data folder ${JSON.stringify(path)}: ${reason}`,
    'Use a path of at most 900 bytes without #, = and line breaks with --data or CODESIGN_SERVER_DATA.',
  ),
  'data-folder-not-made': usage(
    ({ path }) => `there is no server data in ${path}`,
    'Check --data and CODESIGN_SERVER_DATA. Data is created by init, a first start, certificate add or certificate request.',
  ),
  'database-unusable': local(
    ({ reason }) => `the database cannot be used: ${reason}`,
    'Check --database or CODESIGN_SERVER_DATABASE. The database must be running, its disk needs free space, and its user must be allowed to create tables.',
  ),
  'database-of-another': usage(
    ({ reason }) => `the database does not belong to the data folder: ${reason}`,
    'Check --database, CODESIGN_SERVER_DATABASE and --data. Use the database with which the data folder was created. Only init and a first start create tables in the database of --database, which must be empty.',
  ),
  'database-newer': local(
    ({ migration }) => `the database belongs to a newer version of the server: it has the migration ${migration}`,
    'Use the newer version, or restore the backup that was made before the upgrade.',
  ),
  'database-older': local(
    'the database belongs to an older version of the server',
    'Make a backup, then restart the server or run init. Both update the tables.',
  ),
  'data-folder-incomplete': local(
    ({ path, missing }) => `the data folder ${path} lacks ${missing}`,
    'Restore the whole folder from its backup. The keys exist nowhere else.',
  ),
  'database-not-named': local(
    ({ path }) => `the data folder ${path} has no database.sqlite, and --database is not given`,
    'A data folder that was created with PostgreSQL needs --database or CODESIGN_SERVER_DATABASE. Otherwise, restore the whole folder from its backup. The keys exist nowhere else.',
  ),
  'token-not-named': local(
    ({ path }) => `the data folder ${path} has no PIN of a SoftHSM token, and --pkcs11-token is not given`,
    'A data folder that was created with another HSM needs --pkcs11-token or CODESIGN_SERVER_PKCS11_TOKEN. Otherwise, restore the whole folder from its backup. The keys exist nowhere else.',
  ),
  'pkcs11-library-unusable': usage(
    ({ path, reason }) => `the PKCS#11 library cannot be loaded: ${path} (${reason})`,
    'Check --pkcs11-library, CODESIGN_SERVER_PKCS11_LIBRARY and pkcs11.library in the configuration file, or omit them to use SoftHSM.',
  ),
  'pkcs11-library-not-found': usage(
    ({ looked }) => `no SoftHSM library was found; looked for ${looked}`,
    'Install SoftHSM 2 (Debian: apt-get install softhsm2; Fedora: dnf install softhsm; Alpine: apk add softhsm; macOS: brew install softhsm), or set the path of the library with --pkcs11-library or CODESIGN_SERVER_PKCS11_LIBRARY.',
  ),
  'pkcs11-addon-missing': usage(
    'the native addon of pkcs11js is not built',
    'Build it once: npm rebuild pkcs11js --ignore-scripts=false (needs a C++ compiler, make and python3).',
  ),
  'hsm-failed': local(
    ({ operation, reason }) => `the HSM failed to ${operation}: ${reason}`,
    'See the log of the HSM (SoftHSM writes to syslog), and check that its token exists.',
  ),
  'hsm-signature-wrong': local(
    ({ reason }) => `the HSM returned a wrong signature: ${reason}`,
    "Check the HSM, and that the certificate belongs to the token's key.",
  ),
  'token-not-found': local(
    ({ label }) => `the HSM has no token with the label ${label}`,
    'Restore the data folder from its backup, or check which library and data folder are used.',
  ),
  'key-not-found': local(
    ({ id }) => `the HSM has no key with the id ${id}, but a certificate uses it`,
    'The database and the token do not belong together: check --database and --pkcs11-token, or restore both from the same backup.',
  ),
  'certificate-number-taken': usage(
    ({ number }) => `a certificate with the number ${number} already exists`,
    'Choose another number. Each number belongs to a single key.',
  ),
  'nothing-to-change': usage(
    'no option specifies a setting to change',
    'Use at least one of --name, --certificate, --all-certificates, --algorithm, --all-algorithms and --expires.',
  ),
  'holder-not-found': usage(
    ({ kind }) => `there is no ${kind} with this access key or name`,
    'Run client list or viewer list.',
  ),
  'name-ambiguous': usage(
    ({ name, keys }) => `the name ${name} is used more than once: ${keys}`,
    'Use the access key instead of the name.',
  ),
  'certificate-not-found': usage(
    ({ number }) => `there is no certificate with the number ${number}`,
    'Run certificate list.',
  ),
  'no-certificate-valid': usage(
    'the server has no certificate that is valid now and not disabled',
    'Add one with certificate add, import one with certificate import, or enable one with certificate enable.',
  ),
  'nothing-requested': usage(
    ({ number }) => `there is no key for a certificate with the number ${number}`,
    'Run certificate request, and send its output to a CA.',
  ),
  'certificate-unusable': usage(
    ({ path, reason }) => `${path} cannot be used: ${reason}`,
    'Import the certificate that the CA issued for the output of certificate request, together with its issuers, in PEM format and in any order.',
  ),
  'record-not-found': usage(
    ({ id }) => `there is no signature record ${id}`,
    'Run records to list all records. A client finds its record ids with codesign-remote history.',
  ),
  'address-damaged': local(
    ({ path, reason }) => `the address of the last start cannot be read: ${path} (${reason})`,
    'Restart the server, which writes the file again.',
  ),
  'address-unavailable': local(
    ({ host, port, reason }) => `cannot listen on ${host} port ${port}: ${reason}`,
    'Choose another --port (0 selects a free one) or --host.',
  ),
};

export type ServerErrorCode = keyof typeof SERVER_ERRORS;

/** The details must not contain secrets. `reason` defaults to the message of `cause`. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: ServerErrorCode;
  readonly hint: string;
  readonly exitCode: number;

  constructor(code: ServerErrorCode, details: Details = {}, cause?: unknown) {
    const { message, hint, exitCode } = SERVER_ERRORS[code];
    const all = cause === undefined ? details : { reason: reasonOf(cause), ...details };
    super(printable(typeof message === 'string' ? message : message(all)), cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

export function reasonOf(thrown: unknown): string {
  // Node throws an error without a message if it can reach none of the addresses of a host name.
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(reasonOf).join(', ');
  if (!(thrown instanceof Error)) return String(thrown);
  const { code, path }: NodeJS.ErrnoException = thrown;
  return code === 'EACCES' && path !== undefined ? `${thrown.message} (${describeAccess(path)})` : thrown.message;
}

export function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
}

export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`; // a container may run as a user without a name
  }
}

/** Describes the current user, and the mode and owner of the file or of the nearest folder that the user can read. */
export function describeAccess(path: string): string {
  try {
    const { mode, uid, gid } = statSync(path);
    const bits = (mode & 0o7777).toString(8).padStart(4, '0');
    return `running as ${userName()}; ${path} has mode ${bits} and is owned by uid ${uid}, gid ${gid}`;
  } catch {
    const folder = dirname(path);
    return folder === path ? `running as ${userName()}` : describeAccess(folder);
  }
}
