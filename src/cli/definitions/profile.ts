/** The options that the commands have in common which go by stored settings, as commander takes them. */

export const PROFILE = [
  '-p, --profile <name>',
  'stored settings to go by (default default) [CODESIGN_PROFILE]',
] as const;

export const ENVIRONMENT = [
  '-e, --environment <name>',
  "which of the profile's service addresses to use (default production) [CODESIGN_ENVIRONMENT]",
] as const;
