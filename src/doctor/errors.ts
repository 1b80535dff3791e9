import { defineErrors, defineWarnings } from '../errors/define-errors.ts';

export const doctorErrors = defineErrors('local', {
  'clock-differs': {
    message: "this machine's clock and the service's clock differ by {minutes} minutes",
    hint: "Compare this machine's clock with network time. Timestamps are rejected if this machine's clock is wrong by more than 10 minutes.",
  },
});

export const doctorWarnings = defineWarnings({
  'profile-not-stored': 'no settings are stored: run codesign-remote init, or set them in the environment',
  'number-of-other-certificate':
    'the last signature of number {code} was made for another certificate, "{name}": check --code and --certificate',
  'calls-unfinished': '{calls} unfinished: codesign-remote resume finishes them',
  'space-low': 'only {megabytes} MB are free in the state folder: free some space, or set CODESIGN_STATE_DIR',
  'no-signatures-allowed': '--max-signatures is 0, so sign requests nothing: set it to a higher number',
  'clock-unknown': 'the service sends no time',
  'clock-imprecise':
    "this machine's clock and the service's clock differ by {seconds} s: check that this machine's clock is set from a time server",
  'timestamp-root-unknown':
    'the root of this authority is not among the trusted roots of this machine: if you trust it, use --roots to verify',
  'keychain-missing':
    '{reason}: use codesign-remote login --store file, or CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET_FILE',
});
