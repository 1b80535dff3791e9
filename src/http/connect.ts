/** Opens the connections: TCP, TLS 1.2 or later with verified certificates; says why where that fails. */

import net from 'node:net';
import tls from 'node:tls';
import type { buildConnector } from 'undici';
import type { TrustRoots } from './roots.ts';

/** Why there is no connection. In none of these cases has anything of a request been sent. */
export type ConnectReason =
  | 'host-not-found'
  | 'refused'
  | 'connect-timed-out'
  | 'tls-untrusted'
  | 'tls-failed'
  | 'unreachable';

export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure';
  readonly reason: ConnectReason;

  constructor(reason: ConnectReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface ConnectorOptions {
  readonly roots: TrustRoots;
  /** For TCP and TLS together. */
  readonly timeoutMilliseconds: number;
}

export interface Connector {
  readonly connect: buildConnector.connector;
  /** Gives up on connections that are not open yet; undici knows only of those that are. */
  readonly abandon: () => void;
}

type Target = buildConnector.Options;

export function createConnector({ roots, timeoutMilliseconds }: ConnectorOptions): Connector {
  const opening = new Set<net.Socket>();
  const trust = trustInSteps(roots);

  const open = (target: Target, context: tls.SecureContext | undefined): Promise<net.Socket> => {
    const socket = context === undefined ? openPlain(target) : openTls(target, context);
    opening.add(socket);
    return established(socket, context !== undefined, timeoutMilliseconds).finally(() => opening.delete(socket));
  };

  const openTrusted = async (target: Target): Promise<net.Socket> => {
    if (target.protocol !== 'https:') return open(target, undefined);
    try {
      return await open(target, await trust.current());
    } catch (failure) {
      const more = isUntrusted(failure) ? await trust.more() : undefined;
      if (more === undefined) throw failure;
      return open(target, more);
    }
  };

  return {
    connect: (target, callback) => {
      openTrusted(target).then(
        (socket) => callback(null, socket),
        (failure: unknown) => callback(failure instanceof Error ? failure : new Error(String(failure)), null),
      );
    },
    abandon: () => {
      for (const socket of opening) socket.destroy(new Error('abandoned'));
    },
  };
}

interface TrustSteps {
  readonly current: () => Promise<tls.SecureContext>;
  /** The context with every root, or undefined when `current` is that already. */
  readonly more: () => Promise<tls.SecureContext | undefined>;
}

/** The cheap step until a server is not trusted by it, then everything (see TrustRoots). */
function trustInSteps(roots: TrustRoots): TrustSteps {
  let first: tls.SecureContext | undefined;
  let everything: Promise<tls.SecureContext | undefined> | undefined;
  const current = async (): Promise<tls.SecureContext> => {
    first ??= secureContext(roots.own);
    return (await everything) ?? first;
  };
  const more = (): Promise<tls.SecureContext | undefined> => {
    everything ??= roots.all().then((all) => (all === undefined ? undefined : secureContext(all)));
    return everything;
  };
  return { current, more };
}

/** Without `ca` Node takes its default roots, NODE_EXTRA_CA_CERTS among them. */
function secureContext(ca: readonly string[] | undefined): tls.SecureContext {
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [...ca] }) });
}

function openPlain({ hostname, port }: Target): net.Socket {
  return net.connect({ host: hostname, port: Number(port || 80), noDelay: true });
}

function openTls({ hostname, port, servername }: Target, context: tls.SecureContext): net.Socket {
  const socket = tls.connect({
    host: hostname,
    port: Number(port || 443),
    // No name is sent for an IP address (RFC 6066, section 3); Node then checks the certificate against `host`.
    servername: servername || (net.isIP(hostname) ? '' : hostname),
    secureContext: context,
    ALPNProtocols: ['http/1.1'],
    // Said aloud, because the default is what NODE_TLS_REJECT_UNAUTHORIZED makes it.
    rejectUnauthorized: true,
  });
  return socket.setNoDelay(true);
}

function established(socket: net.Socket, secure: boolean, timeoutMilliseconds: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const what = `no connection within ${timeoutMilliseconds / 1000} s`;
      fail(new ConnectFailure('connect-timed-out', what));
    }, timeoutMilliseconds);
    const fail = (failure: ConnectFailure): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(failure);
    };
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // Stays attached: a late error of a socket that was given up has nowhere else to go.
    socket.on('error', (error) => fail(new ConnectFailure(reasonOf(error, socket), error.message || codeOf(error))));
  });
}

const isUntrusted = (failure: unknown): boolean =>
  failure instanceof ConnectFailure && failure.reason === 'tls-untrusted';

function reasonOf(error: Error, socket: net.Socket): ConnectReason {
  // Set by Node exactly when the certificate was judged and not accepted: by chain, by time or by name.
  if (socket instanceof tls.TLSSocket && socket.authorizationError) return 'tls-untrusted';
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'host-not-found';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ETIMEDOUT') return 'connect-timed-out';
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls-failed';
  return 'unreachable';
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
