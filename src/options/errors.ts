/** What can be wrong with options, environment, settings files and credentials: all of it found before anything is sent. */

import { defineErrors } from '../errors/define-errors.ts';

/** For machines without one, and for builds, where no one can type its password. */
const WITHOUT_KEYCHAIN =
  'It is only needed if the environment has no credentials: set CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET_FILE (a file that only you can read) or CODESIGN_ACCESS_SECRET.';

export const settingsErrors = defineErrors({
  'base-url-invalid': {
    category: 'usage',
    // Never the address itself: what is wrong with it may be a password.
    message: (d: { name: string; problem: string }) => `${d.name} is not a usable service address: ${d.problem}`,
    hint: 'Write it as https://host[:port][/path], without user name, query or fragment.',
  },
  'base-url-insecure': {
    category: 'usage',
    message: (d: { name: string; host: string }) => `${d.name} would send the credentials to ${d.host} without TLS`,
    hint: 'Use https:. Plain http: works for this machine only (localhost, 127.0.0.0/8, ::1).',
  },
  'base-url-holds-credentials': {
    category: 'usage',
    message: (d: { name: string }) => `${d.name} holds a user name or password`,
    hint: 'Remove it from the address, and set CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET instead.',
  },
  'credentials-missing': {
    category: 'usage',
    message: (d: { missing: string }) => `no credentials for the service: ${d.missing}`,
    hint: 'Set CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE, or store them with codesign-remote login. A locked keychain shows none.',
  },
  'credentials-ambiguous': {
    category: 'usage',
    message: 'both CODESIGN_ACCESS_SECRET and CODESIGN_ACCESS_SECRET_FILE are set',
    hint: 'Unset one of them.',
  },
  'credentials-other-origin': {
    category: 'usage',
    message: (d: { profile: string; stored: string; origin: string }) =>
      `the credentials of profile ${d.profile} belong to ${d.stored} and are not sent to ${d.origin}; nothing was sent`,
    hint: 'Check the service address (--base-url). Use a separate profile for another service: codesign-remote login --profile <name>.',
  },
  'keychain-unavailable': {
    category: 'usage',
    message: (d: { reason: string }) => `the operating system's keychain cannot be used: ${d.reason}`,
    hint: WITHOUT_KEYCHAIN,
  },
  'keychain-locked': {
    category: 'usage',
    message: (d: { reason: string }) => `the operating system's keychain is locked, or was never set up: ${d.reason}`,
    hint: `Unlock it and run again. ${WITHOUT_KEYCHAIN}`,
  },
  'keychain-denied': {
    category: 'usage',
    message: (d: { reason: string }) => `the operating system's keychain denies access: ${d.reason}`,
    hint: `Allow it when asked. ${WITHOUT_KEYCHAIN}`,
  },
  'keychain-entry-unusable': {
    category: 'usage',
    message: (d: { profile: string }) =>
      `the keychain entry of profile ${d.profile} was not written by codesign-remote login`,
    hint: (d: { profile: string }) => `Replace it: codesign-remote login --profile ${d.profile}.`,
  },
  'access-key-invalid': {
    category: 'usage',
    message: (d: { source: string; problem: string }) => `${d.source} ${d.problem}`,
    hint: 'HTTP Basic authentication ends the key at the first colon. Check that key and secret were not pasted together.',
  },
  'access-secret-invalid': {
    category: 'usage',
    message: (d: { source: string; problem: string }) => `${d.source} ${d.problem}`,
    hint: 'It must hold the access secret on one line and nothing else.',
  },
  'secret-file-unreadable': {
    category: 'usage',
    message: (d: { variable: string; path: string; reason: string }) =>
      `${d.variable}: ${d.path} cannot be read (${d.reason})`,
    hint: 'Name a file that this user may read.',
  },
  'secret-file-exposed': {
    category: 'usage',
    message: (d: { variable: string; path: string; problem: string }) => `${d.variable}: ${d.path} ${d.problem}`,
    hint: 'Everyone who can write to it can change the secret. Restrict it to yourself: chmod 600.',
  },
  'setting-missing': {
    category: 'usage',
    message: (d: { what: string }) => `missing setting: ${d.what}`,
    hint: (d: { option: string; variable: string; besides?: string | undefined }) =>
      `Use ${d.option}, or set ${d.variable}. codesign-remote init asks for it once and stores it.${d.besides ?? ''}`,
  },
  'invalid-setting': {
    category: 'usage',
    message: (d: { value: string; name: string; expected: string }) =>
      d.value === '' ? `${d.name} is empty` : `${d.name}: "${d.value}" is not ${d.expected}`,
    hint: (d: { expected: string }) => `Give ${d.expected}.`,
  },
  'timestamp-url-holds-credentials': {
    category: 'usage',
    message: (d: { name: string }) => `${d.name} holds a user name or password`,
    hint: 'Use the address without them, because addresses appear in logs.',
  },
  'proxy-invalid': {
    category: 'usage',
    // Never the address itself: it may hold a password.
    message: (d: { name: string }) => `${d.name} is not a usable proxy address`,
    hint: 'Write it as http://host:port or https://host:port. Other kinds of proxies (SOCKS) are not supported; NO_PROXY names hosts that need none.',
  },
  'proxy-holds-credentials': {
    category: 'usage',
    message: (d: { name: string }) => `${d.name} holds a user name or password`,
    hint: "Remove it: others can read it there. Set the proxy's credentials in HTTPS_PROXY and HTTP_PROXY, in the environment.",
  },
  'settings-conflict': {
    category: 'usage',
    message: (d: { options: string }) => `${d.options} cannot be used together`,
    hint: 'Use one of them.',
  },
  'profile-name-invalid': {
    category: 'usage',
    message: (d: { name: string; value: string }) =>
      `${d.name}: "${d.value}" is not a valid name of a profile or environment`,
    hint: 'A name has 1 to 64 letters without accents, digits, dots, hyphens and underscores.',
  },
  'profile-unknown': {
    category: 'usage',
    message: (d: { name: string; profile: string; path: string }) =>
      `${d.name}: there is no profile "${d.profile}" in ${d.path}`,
    hint: (d: { suggestion: string; profile: string }) =>
      `${d.suggestion}codesign-remote init --profile ${d.profile} creates it.`,
  },
  'environment-unknown': {
    category: 'usage',
    message: (d: { name: string; where: string; environment: string }) =>
      `${d.name}: ${d.where} has no address for the environment "${d.environment}"`,
    hint: (d: { suggestion: string; environment: string }) =>
      `${d.suggestion}codesign-remote config set environments.${d.environment} <url> stores one.`,
  },
  'setting-unknown': {
    category: 'usage',
    message: (d: { where: string; key: string }) => `${d.where} has no setting "${d.key}"`,
    hint: (d: { suggestion: string; known: string }) => `${d.suggestion}Known settings: ${d.known}.`,
  },
  'setting-is-secret': {
    category: 'usage',
    message: (d: { key: string; where: string }) => `"${d.key}" cannot be stored in ${d.where}, which is plain text`,
    hint: "Store credentials in the operating system's keychain with codesign-remote login. Without a keychain, set CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET_FILE.",
  },
  'setting-not-set': {
    category: 'usage',
    message: (d: { key: string }) => `${d.key} is not set`,
    hint: 'codesign-remote config list shows all settings.',
  },
  'settings-file-unreadable': {
    category: 'usage',
    message: (d: { path: string; reason: string }) => `${d.path} cannot be read: ${d.reason}`,
    hint: 'Make it a file that this user may read, or remove it.',
  },
  'settings-file-damaged': {
    category: 'usage',
    message: (d: { path: string; problem: string }) => `${d.path} ${d.problem}`,
    hint: 'Correct it with an editor, or remove it.',
  },
  'settings-file-exposed': {
    category: 'usage',
    message: (d: { path: string; problem: string }) => `${d.path} ${d.problem}`,
    hint: 'Everyone who can change it decides how you sign. Restrict it to yourself: chown, chmod go-w.',
  },
  'settings-file-unwritable': {
    category: 'local',
    message: (d: { path: string; reason: string }) => `${d.path} cannot be written: ${d.reason}`,
    hint: 'Name another folder with CODESIGN_CONFIG_DIR, or let this user write there.',
  },
  'project-output-refused': {
    category: 'usage',
    message: (d: { path: string; output: string; reason: string }) =>
      `"output" in ${d.path} would send a result to ${d.output}, and ${d.reason}; nothing was sent`,
    hint: 'A cloned repository must not decide which files are replaced. Use --output for this folder.',
  },
  'project-setting-refused': {
    category: 'usage',
    message: (d: { path: string; key: string; reason: string }) => `${d.path} may not hold "${d.key}": ${d.reason}`,
    hint: (d: { allowed: string }) =>
      `Remove it, and use the option, the environment variable, or your profile (codesign-remote config set). A project file may set: ${d.allowed}.`,
  },
  'certificate-file-missing': {
    category: 'local',
    message: (d: { path: string; reason: string }) => `the certificate file ${d.path} cannot be read: ${d.reason}`,
    hint: 'Check --certificate or CODESIGN_CERTIFICATE: a path on this machine, which this user may read.',
  },
});
