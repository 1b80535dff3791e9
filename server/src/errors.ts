/** Every error the server throws on purpose, as one table: stable code, what it means for the exit code, message, hint. */

import { printable } from './text.ts';

/** `usage`: the command or its surroundings must change (exit 2). `local`: disk, port, HSM (exit 6). `internal`: a fault of the server (exit 1). */
export type ServerErrorCategory = 'usage' | 'local' | 'internal';

const EXIT_CODES: Readonly<Record<ServerErrorCategory, number>> = { internal: 1, usage: 2, local: 6 };

type Details = Readonly<Record<string, string | number | undefined>>;
interface Definition {
  readonly category: ServerErrorCategory;
  readonly message: string | ((details: Details) => string);
  readonly hint: string;
}

export const SERVER_ERRORS = {
  'invalid-option': {
    category: 'usage',
    message: ({ option, value, expected }) => `${option} is ${JSON.stringify(value)}, which is not ${expected}`,
    hint: 'Give a fitting value; --help lists the options and the names of their environment variables.',
  },
  'config-unreadable': {
    category: 'usage',
    message: ({ path, reason }) => `the configuration file ${path} cannot be read: ${reason}`,
    hint: 'Check --config and CODESIGN_SERVER_CONFIG.',
  },
  'config-invalid': {
    category: 'usage',
    message: ({ path, key, reason }) => `in the configuration file ${path}, ${key} ${reason}`,
    hint: "The server's README lists the settings.",
  },
  'database-address-unknown': {
    category: 'usage',
    message: 'the address of the database does not begin with postgres://',
    hint: 'Give one as in postgres://user@host/name with --database or CODESIGN_SERVER_DATABASE, or none for SQLite in the data folder.',
  },
  'pin-missing': {
    category: 'usage',
    message: ({ token }) => `there is no PIN for the token ${token}`,
    hint: 'Name a file that holds it with --pkcs11-pin-file, or set CODESIGN_SERVER_PKCS11_PIN.',
  },
  'pin-unreadable': {
    category: 'usage',
    message: ({ path, reason }) => `the file of the PIN cannot be read: ${path} (${reason})`,
    hint: 'Check --pkcs11-pin-file and CODESIGN_SERVER_PKCS11_PIN_FILE.',
  },
  'pin-rejected': {
    category: 'usage',
    message: ({ token, reason }) => `the HSM rejected the PIN of the token ${token}: ${reason}`,
    hint: 'Correct the PIN, then restart the server or send it SIGHUP. It does not try a rejected PIN again, since many HSMs lock after a few attempts.',
  },
  'tls-pair-incomplete': {
    category: 'usage',
    message: '--tls-cert and --tls-key go together, and only one of them was given',
    hint: 'Give both, or neither: then the server makes a TLS certificate by its own CA.',
  },
  'tls-file-unreadable': {
    category: 'usage',
    message: ({ option, path, reason }) => `the file that ${option} names cannot be read: ${path} (${reason})`,
    hint: 'Check --tls-cert and --tls-key, or tls.certificate and tls.key in the configuration file.',
  },
  'tls-files-unusable': {
    category: 'usage',
    message: ({ path, reason }) => `${path} cannot be used for TLS: ${reason}`,
    hint: 'Give PEM files: the certificate with its chain as --tls-cert, its private key without a passphrase as --tls-key.',
  },
  'tls-key-mismatch': {
    category: 'usage',
    message: ({ certificate, key, subject }) =>
      `the key in ${key} does not belong to the first certificate in ${certificate} (${subject})`,
    hint: 'Give the key of that certificate as --tls-key. In the file of --tls-cert the certificate of the server stands first.',
  },
  'nobody-to-hand-credentials-to': {
    category: 'usage',
    message: ({ option }) =>
      `credentials are shown once, when they are made, and there is no place to show them: standard error is not a terminal and ${option} is not given`,
    hint: 'Give that option a path to have them written to a new file, or do this in a terminal.',
  },
  'client-env-exists': {
    category: 'usage',
    message: ({ path }) => `the file for the credentials exists: ${path}`,
    hint: 'It is never overwritten, since it may hold credentials still in use. Name a new file, or remove this one.',
  },
  'client-env-not-writable': {
    category: 'usage',
    message: ({ path, reason }) => `the file for the credentials cannot be written: ${path} (${reason})`,
    hint: 'Name a file in an existing folder that this user may write.',
  },
  'data-folder-unusable': {
    category: 'local',
    message: ({ path, reason }) => `the data folder cannot be used: ${path} (${reason})`,
    hint: 'Give a folder that this user owns with --data or CODESIGN_SERVER_DATA.',
  },
  'data-path-unfit': {
    category: 'usage',
    message: ({ path, reason }) => `SoftHSM cannot keep keys below the data folder ${JSON.stringify(path)}: ${reason}`,
    hint: 'Its configuration cannot hold such a path. Give one of at most 900 bytes without #, = and line breaks with --data or CODESIGN_SERVER_DATA.',
  },
  'data-folder-not-made': {
    category: 'usage',
    message: ({ path }) => `there is no server's data in ${path}`,
    hint: 'Check --data and CODESIGN_SERVER_DATA. A first start, or certificate add, makes the data.',
  },
  'database-unusable': {
    category: 'local',
    message: ({ reason }) => `the database cannot be used: ${reason}`,
    hint: 'Check --database or CODESIGN_SERVER_DATABASE, that the database is there and runs, and that its user may make tables in it.',
  },
  'database-of-another': {
    category: 'usage',
    message: 'the database holds no code-signing authority, though the data folder was made',
    hint: 'Use the database that the data folder was made with: data does not move to another by itself. A folder that holds database.sqlite was made without --database.',
  },
  'data-folder-incomplete': {
    category: 'local',
    message: ({ path, missing }) => `the data folder ${path} lacks ${missing}`,
    hint: 'Something was removed or is not restored yet. Restore the whole folder from its backup: the keys exist nowhere else.',
  },
  'database-not-named': {
    category: 'local',
    message: ({ path }) => `the data folder ${path} holds no database.sqlite, and --database is not given`,
    hint: 'A data folder that was made with PostgreSQL needs --database or CODESIGN_SERVER_DATABASE. If it was made without, restore the whole folder from its backup: the keys exist nowhere else.',
  },
  'token-not-named': {
    category: 'local',
    message: ({ path }) => `the data folder ${path} holds no PIN of a SoftHSM token, and --pkcs11-token is not given`,
    hint: 'A data folder that was made with another HSM needs --pkcs11-token or CODESIGN_SERVER_PKCS11_TOKEN. If it was made without, restore the whole folder from its backup: the keys exist nowhere else.',
  },
  'pkcs11-library-unusable': {
    category: 'usage',
    message: ({ path, reason }) => `the PKCS#11 library cannot be loaded: ${path} (${reason})`,
    hint: 'Check --pkcs11-library, CODESIGN_SERVER_PKCS11_LIBRARY and pkcs11.library in the configuration file, or leave them out to use SoftHSM.',
  },
  'pkcs11-library-not-found': {
    category: 'usage',
    message: ({ looked }) => `no SoftHSM library was found; looked for ${looked}`,
    hint: 'Install SoftHSM 2 (Debian: apt-get install softhsm2; Fedora: dnf install softhsm; Alpine: apk add softhsm; macOS: brew install softhsm), or name the library with --pkcs11-library or CODESIGN_SERVER_PKCS11_LIBRARY.',
  },
  'pkcs11-addon-missing': {
    category: 'usage',
    message: 'the native addon of pkcs11js is not built',
    hint: 'Build it once: npm rebuild pkcs11js --ignore-scripts=false (needs a C++ compiler, make and python3).',
  },
  'hsm-failed': {
    category: 'local',
    message: ({ operation, reason }) => `the HSM failed to ${operation}: ${reason}`,
    hint: 'See the HSM’s own log (SoftHSM writes to syslog), and check that its token is in place.',
  },
  'token-not-found': {
    category: 'local',
    message: ({ label }) => `the HSM has no token with the label ${label}`,
    hint: 'Restore the data folder from its backup, or check which library and data folder are used.',
  },
  'key-not-found': {
    category: 'local',
    message: ({ id }) => `the HSM has no key with the id ${id}, though a certificate names it`,
    hint: 'Database and token do not belong together: check --database and --pkcs11-token, or restore both from the same backup.',
  },
  'certificate-number-taken': {
    category: 'usage',
    message: ({ number }) => `there is a certificate with the number ${number} already`,
    hint: 'Choose another number: a number means one key for ever.',
  },
  'nothing-to-change': {
    category: 'usage',
    message: ({ accessKey }) => `no option says what to change of the client ${accessKey}`,
    hint: 'Give at least one of --name, --certificate, --all-certificates, --algorithm, --all-algorithms and --expires.',
  },
  'client-not-found': {
    category: 'usage',
    message: ({ accessKey }) => `there is no client with the access key ${accessKey}`,
    hint: 'client list shows them.',
  },
  'viewer-not-found': {
    category: 'usage',
    message: ({ accessKey }) => `there is no viewer with the access key ${accessKey}`,
    hint: 'viewer list shows them.',
  },
  'certificate-not-found': {
    category: 'usage',
    message: ({ number }) => `there is no certificate with the number ${number}`,
    hint: 'certificate list shows them.',
  },
  'no-certificate-valid': {
    category: 'usage',
    message: 'the server has no certificate that is valid now and not disabled',
    hint: 'Add one with certificate add, import one with certificate import, or enable one with certificate enable.',
  },
  'nothing-requested': {
    category: 'usage',
    message: ({ number }) => `there is no key for a certificate with the number ${number}`,
    hint: 'Make one with certificate request, and have its output certified.',
  },
  'certificate-unusable': {
    category: 'usage',
    message: ({ path, reason }) => `${path} cannot be used: ${reason}`,
    hint: 'Import what the CA made of the output of certificate request, as PEM: the certificate and those of its issuers, in any order.',
  },
  'record-not-found': {
    category: 'usage',
    message: ({ id }) => `there is no signature record ${id}`,
    hint: 'records lists them; a client shows the id of its own with codesign-remote history.',
  },
  'address-unavailable': {
    category: 'local',
    message: ({ host, port, reason }) => `cannot listen on ${host} port ${port}: ${reason}`,
    hint: 'Choose another --port (0 takes a free one) or --host.',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type ServerErrorCode = keyof typeof SERVER_ERRORS;

export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: ServerErrorCode;
  readonly hint: string;
  readonly exitCode: number;

  constructor(code: ServerErrorCode, message: string, hint: string, exitCode: number, cause: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/**
 * Makes an error of the table: `throw serverError('token-not-found', { label })`. Details are never secrets. Control
 * characters in them are escaped.
 */
export function serverError(code: ServerErrorCode, details: Details = {}, cause?: unknown): ServerError {
  const definition: Definition = SERVER_ERRORS[code];
  const { message, hint, category } = definition;
  const text = printable(typeof message === 'string' ? message : message(details));
  return new ServerError(code, text, hint, EXIT_CODES[category], cause);
}

/** What went wrong, as a short text for a person. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
