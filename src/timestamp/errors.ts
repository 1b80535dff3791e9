import { defineErrors } from '../errors/define-errors.ts';

/** The reason for a failure contains this text if the timestamp's time differs too much from the local clock. */
export const CLOCK_DIFFERS = ': either may be wrong';

export const timestampErrors = defineErrors('timestamp', {
  'timestamp-failed': {
    message: 'no timestamp authority returned a usable timestamp: {reasons}',
    hint: (d: { authorities: number; reasons: string }) =>
      d.reasons.includes(CLOCK_DIFFERS)
        ? "Compare this machine's clock with network time, and correct it if it is wrong. If it is right, use another authority with --timestamp-url."
        : d.authorities === 1
          ? 'Check its address, and --ca-file if a private authority issued its TLS certificate. Or try again later, or add a second authority (--timestamp-url, repeatable).'
          : 'Check the addresses given with --timestamp-url, the network, and --ca-file for private TLS certificates. Or try again later.',
  },
  'timestamp-interrupted': {
    message: 'interrupted before a timestamp authority returned a timestamp{reasons}',
    hint: 'Run the command again.',
  },
  'timestamp-malformed': {
    category: 'local',
    message: 'the timestamp is malformed: {problem}',
    hint: 'Sign the file again. The timestamp is damaged, or the data is not a timestamp.',
  },
});
