/** What can be wrong with the HTTP set-up, before anything is sent. */

import { defineErrors } from '../errors/define-errors.ts';

export const httpErrors = defineErrors('usage', {
  'ca-file-unreadable': {
    // Never the path: a secret may have been set as CODESIGN_CA_FILE by mistake.
    message: 'the file of TLS roots cannot be read ({reason})',
    hint: 'Set --ca-file (or CODESIGN_CA_FILE) to the path of a PEM file that this user can read.',
  },
  'ca-file-unusable': {
    message: 'the file of TLS roots {path} contains no usable certificate ({reason})',
    hint: 'Use a file with one or more certificates in PEM form ("-----BEGIN CERTIFICATE-----").',
  },
  'insecure-address': {
    message: '{origin} would be called without TLS',
    hint: 'Use https:. Plain http: works for this machine only (localhost, 127.0.0.0/8, ::1).',
  },
  'tls-checks-disabled': {
    message: 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which makes Node.js trust any server',
    hint: 'Unset it. To trust your own service, set its root with --ca-file (or CODESIGN_CA_FILE).',
  },
});

/** Why there is no connection. In none of these cases has anything of a request been sent. */
export type ConnectReason =
  | 'host-not-found'
  | 'refused'
  | 'connect-timed-out'
  | 'tls-untrusted'
  | 'tls-failed'
  | 'unreachable'
  /** There is no connection to the proxy: not found, refused, no TLS, …. */
  | 'proxy-unreachable'
  /** It asks for credentials, or for other ones. */
  | 'proxy-unauthorized'
  /** It opened no way to the target. */
  | 'proxy-refused';

export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly reason: ConnectReason;

  constructor(reason: ConnectReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
