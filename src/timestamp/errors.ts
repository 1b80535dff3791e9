/** What can go wrong with timestamps. */

import { defineErrors } from '../errors/define-errors.ts';

export const timestampErrors = defineErrors({
  'timestamp-failed': {
    category: 'timestamp',
    message: (d: { reasons: string }) => `no timestamp authority returned a usable timestamp: ${d.reasons}`,
    hint: (d: { authorities: number }) =>
      d.authorities === 1
        ? 'Check its address, and --ca-file where its TLS certificate is of a private authority. Or try again later, or name a second authority as well (--timestamp-url, repeatable): they are tried in order.'
        : 'Check the addresses given with --timestamp-url, the network, and --ca-file for private TLS certificates. Or try again later.',
  },
  'timestamp-interrupted': {
    category: 'timestamp',
    message: (d: { reasons: string }) => `interrupted before a timestamp authority returned a timestamp${d.reasons}`,
    hint: 'Run again.',
  },
  'timestamp-malformed': {
    category: 'local',
    message: (d: { problem: string }) => `the timestamp is malformed: ${d.problem}`,
    hint: 'Sign the file again: the timestamp is damaged, or is not a timestamp.',
  },
});
