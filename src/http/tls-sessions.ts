/** TLS sessions of this process, so that a further connection to a server needs no whole handshake (RFC 8446, section 2.2). */

import type tls from 'node:tls';
import { ConnectFailure, type ConnectReason } from './connect-failure.ts';

/** What a server's refusal to resume may look like; others have nothing to do with sessions, or have taken all the time there is. */
const MAY_OWE_TO_SESSION: ReadonlySet<ConnectReason> = new Set(['tls-failed', 'unreachable']);

export interface TlsSessions {
  /**
   * Opens a connection with what the server gave on an earlier one, where it gave something; should that fail, without it,
   * and then it is forgotten. A resumed handshake checks no certificate: a session is therefore kept by the name that the
   * certificate was checked against (`server`), and only once that was trusted.
   */
  resume<T>(server: string, open: (session: Buffer | undefined) => Promise<T>): Promise<T>;
  /** Keeps what the server gives on this connection. */
  listen(server: string, socket: tls.TLSSocket): void;
}

/**
 * In memory only: whoever has a session can read what is sent in it. The newest one of a server is offered on all its
 * connections: some servers give no other on a connection that was resumed. That observers can then tell them to be of one
 * client (RFC 8446, appendix C.4) they can anyway, by its address. In TLS 1.2 a resumed connection is as safe as the key by
 * which the server seals its tickets, as with any client that resumes.
 */
export function keepTlsSessions(): TlsSessions {
  const newest = new Map<string, Buffer>();
  return {
    async resume(server, open) {
      const session = newest.get(server);
      if (session === undefined) return open(undefined);
      try {
        return await open(session);
      } catch (failure) {
        if (newest.get(server) === session) newest.delete(server);
        if (!(failure instanceof ConnectFailure && MAY_OWE_TO_SESSION.has(failure.reason))) throw failure;
        return open(undefined);
      }
    },
    // Comes only after the certificate has been found good.
    listen: (server, socket) => void socket.on('session', (session) => newest.set(server, session)),
  };
}
