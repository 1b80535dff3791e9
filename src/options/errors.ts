/** Errors in options, environment variables, settings files and credentials that are found before anything is sent. */

import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

const WITHOUT_KEYCHAIN =
  'Without a keychain, set CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET_FILE (a file that only you can read) or CODESIGN_ACCESS_SECRET, or store credentials in such a file: codesign-remote login --store file.';

export const settingsErrors = defineErrors('usage', {
  'base-url-invalid': {
    // The message never shows the address, because the invalid part of it may be a password.
    message: '{name} is not a usable service address: {problem}',
    hint: 'Write the address as https://host[:port][/path], without user name, query or fragment.',
  },
  'base-url-insecure': {
    message: '{name} would send the credentials to {host} without TLS',
    hint: 'Use an https:// address. An http:// address is accepted only for this machine (localhost, 127.0.0.0/8, ::1).',
  },
  'base-url-holds-credentials': {
    message: '{name} contains a user name or password',
    hint: 'Remove the user name and the password from the address, and set CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET instead.',
  },
  'credentials-missing': {
    message: 'no credentials for the service: {missing}',
    hint: 'Set CODESIGN_ACCESS_KEY with CODESIGN_ACCESS_SECRET or CODESIGN_ACCESS_SECRET_FILE, or store credentials with codesign-remote login. A locked keychain returns no credentials.',
  },
  'credentials-ambiguous': {
    message: 'both CODESIGN_ACCESS_SECRET and CODESIGN_ACCESS_SECRET_FILE are set',
    hint: 'Unset one of the two variables.',
  },
  'credentials-other-origin': {
    message:
      'the credentials of profile {profile} were stored for {stored} and are not sent to {origin}; nothing was sent',
    hint: 'Check the service address (--base-url). Each environment of a profile can have its own credentials: codesign-remote login --environment <name>. Use a separate profile for another service: codesign-remote login --profile <name>.',
  },
  'keychain-unavailable': {
    message: "the operating system's keychain cannot be used: {reason}",
    hint: WITHOUT_KEYCHAIN,
  },
  'keychain-locked': {
    message: "the operating system's keychain is locked, or was never set up: {reason}",
    hint: `Unlock the keychain and run the command again. ${WITHOUT_KEYCHAIN}`,
  },
  'keychain-denied': {
    message: "the operating system's keychain denies access: {reason}",
    hint: `Allow access when the system asks for it. ${WITHOUT_KEYCHAIN}`,
  },
  'keychain-entry-unusable': {
    message: 'the keychain entry of profile {profile} was not written by codesign-remote login',
    hint: 'Replace the entry: codesign-remote login --profile {profile} --environment {environment}.',
  },
  'credentials-file-exposed': {
    message: 'the credentials in {path} are not used: the file {problem}',
    hint: 'If other users may have read the file, ask the operator of your service for a new access secret. Remove the file, and run codesign-remote login --store file again.',
  },
  'access-key-invalid': {
    message: '{source} {problem}',
    hint: 'Check that the key and the secret were not pasted together. An access key cannot contain a colon.',
  },
  'access-secret-invalid': {
    message: '{source} {problem}',
    hint: 'Provide only the access secret, on a single line.',
  },
  'secret-file-unreadable': {
    // The message never shows the path, because the user may have set the secret itself as the path.
    message: '{variable} is set to a file that cannot be read ({reason})',
    hint: 'Use a file that the current user can read.',
  },
  'secret-file-exposed': {
    message: '{variable}: {path} {problem}',
    hint: 'Make the file accessible only to your user (chmod 600). Anyone who can write to the file can change the secret.',
  },
  'setting-missing': {
    message: 'missing setting: {what}',
    hint: (d: { option: string; variable: string; besides?: string | undefined }) =>
      `Use ${d.option}, or set ${d.variable}. codesign-remote init asks for the setting once and stores it.${d.besides ?? ''}`,
  },
  'invalid-setting': {
    message: (d: { value: string; name: string; expected: string }) =>
      d.value === '' ? `${d.name} is empty` : `${d.name}: "${d.value}" is not ${d.expected}`,
    hint: 'Give {expected}.',
  },
  'timestamp-url-holds-credentials': {
    message: '{name} contains a user name or password',
    hint: 'Remove the user name and the password from the address, because addresses appear in logs.',
  },
  'proxy-invalid': {
    // The message never shows the address, because it may contain a password.
    message: '{name} is not a usable proxy address',
    hint: 'Write the address as http://host:port or https://host:port. SOCKS proxies are not supported. Set NO_PROXY for hosts that need no proxy.',
  },
  'proxy-holds-credentials': {
    message: '{name} contains a user name or password',
    hint: "Remove the user name and the password from the address, because other users can read the address. Set the proxy's credentials in the environment variables HTTPS_PROXY and HTTP_PROXY.",
  },
  'settings-conflict': {
    message: '{options} cannot be used together',
    hint: 'Use only one of these settings.',
  },
  'revocation-not-checked': {
    message: '{options} cannot be used without --check-revocation',
    hint: 'Add --check-revocation. To set the root certificates for signers, use --roots.',
  },
  'profile-name-invalid': {
    message: '{name} is not a valid profile or environment name',
    hint: 'Use 1 to 64 characters: unaccented letters, digits, dots, hyphens and underscores.',
  },
  'profile-unknown': {
    // The message never shows the name, because it may be a secret that was typed after -p.
    message: '{name}: unknown profile; the profiles in {path} are: {known}',
    hint: (d: { readonly mayBeNew: boolean }) =>
      d.mayBeNew
        ? 'Use one of these profiles, or create one with codesign-remote init --profile <name>.'
        : 'Use one of them.',
  },
  'environment-unknown': {
    message: '{name}: {where} has no address for this environment; it has addresses for: {known}',
    hint: 'Use one of these environments, or store the address of another one: codesign-remote config set environments.<name> <url>.',
  },
  'setting-unknown': {
    message: '{where} has no setting "{key}"',
    hint: '{suggestion}Known settings: {known}.',
  },
  'setting-is-secret': {
    message: '"{key}" cannot be stored in {where}, which is plain text',
    hint: "Store credentials in the operating system's keychain with codesign-remote login. Without a keychain, use codesign-remote login --store file, or set both CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET_FILE.",
  },
  'settings-file-unreadable': {
    message: '{path} cannot be read: {reason}',
    hint: 'Give the current user read permission for the file, or delete the file.',
  },
  'settings-file-damaged': {
    message: '{path} {problem}',
    hint: 'Correct the file with an editor, or remove it.',
  },
  'settings-file-exposed': {
    message: '{path} {problem}',
    hint: 'Make your user the owner of the file, and remove write access for other users (chown, chmod go-w). Anyone who can change the file decides how you sign.',
  },
  'settings-file-unwritable': {
    category: 'local',
    message: '{path} cannot be written: {reason}',
    hint: 'Set CODESIGN_CONFIG_DIR to another folder, or give the current user write permission.',
  },
  'project-output-refused': {
    message: '"output" in {path} would write a result to {output}, but {reason}; nothing was sent',
    hint: 'Set the output folder with --output instead. A cloned repository must not decide which files are replaced.',
  },
  'project-setting-refused': {
    message: '{path} must not contain "{key}": {reason}',
    hint: 'Remove the setting, and use the option, the environment variable, or your profile (codesign-remote config set). A project file may set: {allowed}.',
  },
  'certificate-file-missing': {
    category: 'local',
    message: 'the certificate file {path} cannot be read: {reason}',
    hint: 'Set --certificate or CODESIGN_CERTIFICATE to a file on this machine that the current user can read.',
  },
});

export const settingsWarnings = defineWarnings({
  'secret-file-readable': '{variable}: other users may read {path}; chmod 600 makes it private',
  'variable-unknown': 'unknown variable {name}{suggestion}',
});
