import { defineErrors } from '../errors/define-errors.ts';

export const httpErrors = defineErrors('usage', {
  'ca-file-unreadable': {
    // The message does not contain the path, because CODESIGN_CA_FILE may contain a secret by mistake.
    message: 'the TLS root certificate file cannot be read ({reason})',
    hint: 'Set --ca-file (or CODESIGN_CA_FILE) to the path of a PEM file that the current user can read.',
  },
  'ca-file-unusable': {
    message: 'the TLS root certificate file {path} contains no usable certificate ({reason})',
    hint: 'Use a file with one or more certificates in PEM format ("-----BEGIN CERTIFICATE-----").',
  },
  'insecure-address': {
    message: 'requests to {origin} would be sent without TLS',
    hint: 'Use an https:// address. An http:// address is accepted only for this machine (localhost, 127.0.0.0/8, ::1).',
  },
  'tls-checks-disabled': {
    message: 'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which makes Node.js trust any server',
    hint: 'Unset the variable. To trust your own service, set its root with --ca-file (or CODESIGN_CA_FILE).',
  },
});

/** Reason why no connection was made, and therefore no byte of the request was sent. */
export type ConnectReason =
  | 'host-not-found'
  | 'refused'
  | 'connect-timed-out'
  | 'tls-untrusted'
  | 'tls-failed'
  | 'unreachable'
  /** The connection to the proxy failed for one of the reasons above. */
  | 'proxy-unreachable'
  /** The proxy requires credentials, or rejected them. */
  | 'proxy-unauthorized'
  | 'proxy-refused';

export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly reason: ConnectReason;

  constructor(reason: ConnectReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
