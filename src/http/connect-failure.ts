/** Why there is no connection. */

/** In none of these cases has anything of a request been sent. */
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
