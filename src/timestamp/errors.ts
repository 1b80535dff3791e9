/** Failures to get a timestamp. */

import { defineErrors } from '../errors/define-errors.ts';

/** Ends the reason if a timestamp differs too much from the local clock. */
export const CLOCK_DIFFERS = ': either may be wrong';

export const timestampErrors = defineErrors('timestamp', {
  'timestamp-failed': {
    message: 'no timestamp authority returned a usable timestamp: {reasons}',
    hint: (d: { authorities: number; reasons: string }) =>
      d.reasons.includes(CLOCK_DIFFERS)
        ? "Compare this machine's clock with the time of the network, and set it if it is wrong. If it is right, name another authority with --timestamp-url."
        : d.authorities === 1
          ? 'Check its address, and --ca-file where its TLS certificate is of a private authority. Or try again later, or name a second authority as well (--timestamp-url, repeatable): they are tried in order.'
          : 'Check the addresses given with --timestamp-url, the network, and --ca-file for private TLS certificates. Or try again later.',
  },
  'timestamp-interrupted': {
    message: 'interrupted before a timestamp authority returned a timestamp{reasons}',
    hint: 'Run again.',
  },
  'timestamp-malformed': {
    category: 'local',
    message: 'the timestamp is malformed: {problem}',
    hint: 'Sign the file again: the timestamp is damaged, or is not a timestamp.',
  },
});
