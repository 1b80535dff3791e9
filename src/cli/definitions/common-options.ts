/** The options that several commands have in common, as commander takes them. */

/** Each time it is given adds one more. */
export function repeatable(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export const PROFILE = [
  '-p, --profile <name>',
  'stored settings to go by (default default) [CODESIGN_PROFILE]',
] as const;

export const ENVIRONMENT = [
  '-e, --environment <name>',
  "which of the profile's service addresses to use (default production) [CODESIGN_ENVIRONMENT]",
] as const;

export const CERTIFICATE = [
  '--certificate <file>',
  'signing certificate and chain: PEM, DER, PKCS#7 or PKCS#12; repeatable [CODESIGN_CERTIFICATE]',
  repeatable,
] as const;

export const TIMESTAMP_URL = [
  '-t, --timestamp-url <url>',
  'RFC 3161 time stamp authority; repeatable, tried in order [CODESIGN_TIMESTAMP_URL]',
  repeatable,
] as const;

export const TIMESTAMP_ROOTS = [
  '--timestamp-roots <pem>',
  "roots at which the timestamp's chain must end (default: not checked) [CODESIGN_TIMESTAMP_ROOTS]",
] as const;

export const EXCLUDE = [
  '--exclude <pattern>',
  'leave out files and folders by name ("*.node"), or by path ("dist/vendor/**"); repeatable',
  repeatable,
] as const;
