/** Options that name the service, the certificate at the service, and the credentials. */

import { certificateCode, certificateFile, type OptionDefinition, serviceAddress, text } from '../option.ts';

export const SERVICE_OPTIONS = {
  /** Name of a stored profile. */
  profile: {
    flag: '--profile',
    short: '-p',
    placeholder: 'name',
    kind: { ...text, suggestions: 'profiles' },
    variable: 'CODESIGN_PROFILE',
    default: 'default',
    help: 'profile to use',
    commands: ['sign', 'timestamp', 'resume', 'init', 'login', 'logout', 'whoami', 'config list', 'config set'],
  },
  /** Name of one of the profile's service addresses. */
  environment: {
    flag: '--environment',
    short: '-e',
    placeholder: 'name',
    kind: { ...text, suggestions: 'environments' },
    variable: 'CODESIGN_ENVIRONMENT',
    default: 'production',
    help: "name of the profile's service address to use",
    commands: ['sign', 'resume', 'init', 'login', 'logout', 'whoami', 'config list'],
  },
  baseUrl: {
    flag: '--base-url',
    placeholder: 'url',
    kind: serviceAddress,
    variable: 'CODESIGN_BASE_URL',
    help: 'address of the signing service',
    commands: ['sign', 'resume', 'init', 'login', 'whoami'],
  },
  accessKey: {
    flag: '--access-key',
    placeholder: 'key',
    kind: text,
    help: 'Access Key; without a terminal, the Access Secret comes from standard input',
    commands: ['login'],
    isCommandLineOnly: true,
  },
  check: {
    flag: '--check',
    help: 'request that checks the credentials and spends no signature',
    commands: ['login', 'whoami'],
    in: { login: { flag: '--no-check', help: 'no check of the credentials at the service before they are stored' } },
    isCommandLineOnly: true,
  },
  code: {
    flag: '--code',
    short: '-c',
    placeholder: 'number',
    kind: certificateCode,
    variable: 'CODESIGN_CODE',
    stored: 'profile',
    help: 'number of the certificate at the service',
    commands: ['sign', 'init'],
  },
  certificate: {
    flag: '--certificate',
    placeholder: 'file',
    kind: certificateFile,
    isList: true,
    variable: 'CODESIGN_CERTIFICATE',
    stored: 'profile',
    help: 'signing certificate and its chain',
    commands: ['sign', 'resume', 'init'],
  },
} as const satisfies Readonly<Record<string, OptionDefinition>>;
