import http from 'node:http';
import net from 'node:net';
import tls from 'node:tls';
import type { AddressBook } from './addresses.ts';
import { ConnectFailure, type ConnectReason } from './errors.ts';
import type { HttpProxy } from './proxy.ts';
import { type TrustRoots, trustInSteps } from './roots.ts';

export interface Target {
  readonly protocol: string;
  /** IPv6 addresses have no brackets. */
  readonly hostname: string;
  /** Empty for the default port of the protocol. */
  readonly port: string;
}

/** Rejects with a ConnectFailure. */
export type Connect = (target: Target) => Promise<net.Socket>;

export function targetOf({ protocol, hostname, port }: URL): Target {
  return { protocol, port, hostname: hostname.replace(/^\[|\]$/g, '') };
}

/** Delay before the next address is tried. Node's default of 250 ms is too short for long round trips. */
const ADDRESS_MILLISECONDS = 2000;

/** `timeoutMilliseconds` limits name lookup, TCP and TLS in total; with a proxy, each of them separately. */
export function createConnector(roots: TrustRoots, timeoutMilliseconds: number, names: AddressBook) {
  const opening = new Set<net.Socket>();
  const trusting = trustInSteps(roots);
  const sessions = keepTlsSessions();

  let isAbandoned = false;

  const establish = async (socket: net.Socket, hostname: string, event: string): Promise<net.Socket> => {
    opening.add(socket);
    if (isAbandoned) socket.destroy(ABANDONED);
    try {
      return await established(socket, event, timeoutMilliseconds);
    } catch (failure) {
      names.forget(hostname);
      throw failure;
    } finally {
      opening.delete(socket);
    }
  };

  const secure = (target: Target, way: TlsWay): Promise<net.Socket> => {
    const socket = openTls(target, way, names);
    sessions.listen(serverOf(target), socket);
    return establish(socket, target.hostname, 'secureConnect');
  };

  const open = (target: Target): Promise<net.Socket> => {
    const { protocol, hostname, port } = target;
    if (protocol !== 'https:') {
      const options = { host: hostname, port: Number(port || 80), noDelay: true, ...tryingAddresses(names) };
      return establish(net.connect(options), hostname, 'connect');
    }
    return trusting((context) => sessions.resume(serverOf(target), (session) => secure(target, { context, session })));
  };

  const openToProxy = async ({ url }: HttpProxy): Promise<net.Socket> => {
    try {
      return await open(targetOf(url));
    } catch (failure) {
      const { message } = failure instanceof Error ? failure : new Error(String(failure));
      throw new ConnectFailure('proxy-unreachable', `${url.origin}: ${message}`);
    }
  };

  const openThrough = async (proxy: HttpProxy, target: Target): Promise<net.Socket> => {
    const openOnce = async (context: tls.SecureContext, session: Buffer | undefined): Promise<net.Socket> => {
      const way = await openToProxy(proxy);
      opening.add(way);
      try {
        const tunnel = await openTunnel(way, target, proxy, timeoutMilliseconds);
        return await secure(target, { context, session, tunnel });
      } finally {
        opening.delete(way);
      }
    };
    return trusting((context) => sessions.resume(serverOf(target), (session) => openOnce(context, session)));
  };

  return {
    connect: open,
    through:
      (proxy: HttpProxy): Connect =>
      (target) =>
        openThrough(proxy, target),
    abandon: (): void => {
      isAbandoned = true;
      for (const socket of opening) socket.destroy(ABANDONED);
    },
  };
}

const ABANDONED = new Error('abandoned');

interface TlsWay {
  readonly context: tls.SecureContext;
  readonly session: Buffer | undefined;
  readonly tunnel?: net.Socket;
}

function serverOf({ hostname, port }: Target): string {
  return `${hostname} ${port}`;
}

function tryingAddresses({ lookup }: AddressBook) {
  return { lookup, autoSelectFamilyAttemptTimeout: ADDRESS_MILLISECONDS };
}

function openTls(target: Target, { context, session, tunnel }: TlsWay, names: AddressBook): tls.TLSSocket {
  const { hostname, port } = target;
  const socket = tls.connect({
    host: hostname,
    port: Number(port || 443),
    ...tryingAddresses(names),
    ...(tunnel && { socket: tunnel }),
    // An IP address is no server name (RFC 6066, section 3). Node then checks the certificate against `host`.
    servername: net.isIP(hostname) ? '' : hostname,
    secureContext: context,
    ...(session && { session }),
    ALPNProtocols: ['http/1.1'],
    // NODE_TLS_REJECT_UNAUTHORIZED changes the default of this option.
    rejectUnauthorized: true,
    checkServerIdentity,
  });
  // Runs before Node's own listener, which discards an untrusted certificate.
  socket.prependListener('secure', () => {
    if (!socket.isSessionReused()) presented.set(socket, socket.getPeerCertificate(true));
  });
  if (tunnel !== undefined) socket.once('close', () => tunnel.destroy());
  return socket.setNoDelay(true);
}

/** Without a DNS name in subjectAltName, Node would use the common name, which RFC 9525, section 2, forbids. */
function checkServerIdentity(hostname: string, certificate: tls.PeerCertificate): Error | undefined {
  if (!certificate.subjectaltname) return new Error('the certificate has no subjectAltName (RFC 9525)');
  const subject = { ...certificate.subject, CN: '' };
  return tls.checkServerIdentity(hostname, { ...certificate, subject });
}

function established(socket: net.Socket, event: string, timeoutMilliseconds: number): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const tried: string[] = [];
    socket.on('connectionAttempt', (address: string) => tried.push(address));
    const timer = setTimeout(() => {
      const what = `no connection within ${timeoutMilliseconds / 1000} s`;
      fail(new ConnectFailure('connect-timed-out', tried.length === 0 ? what : `${what} to ${tried.join(', ')}`));
    }, timeoutMilliseconds);
    const fail = (failure: ConnectFailure): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(failure);
    };
    socket.once(event, () => {
      clearTimeout(timer);
      resolve(socket);
    });
    // This listener stays attached, because an abandoned socket may still report an error.
    socket.on('error', (error) => fail(new ConnectFailure(reasonOf(error, socket), describe(error, socket))));
  });
}

/** If connections to several addresses failed, the error has no message. */
function describe(error: Error, socket: net.Socket): string {
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join('; ');
  const certificate = presented.get(socket);
  const said = error.message || codeOf(error);
  return isUntrusted(socket) && certificate !== undefined ? `${said}; ${inWords(certificate, codeOf(error))}` : said;
}

const presented = new WeakMap<net.Socket, tls.DetailedPeerCertificate>();

/** The issuer may be a proxy that intercepts TLS, and a wrong clock may be the reason for a wrong validity. */
function inWords(leaf: tls.DetailedPeerCertificate, code: string): string {
  let top = leaf;
  while (top.issuerCertificate && top.issuerCertificate !== top) top = top.issuerCertificate;
  const { CN, O } = top.issuer ?? {};
  const issuer = `issued by ${CN ?? O ?? 'an unnamed authority'}`;
  if (!TIME_CODES.has(code)) return issuer;
  return `${issuer}, valid from ${leaf.valid_from} to ${leaf.valid_to}, and the clock of this machine says ${new Date().toUTCString()}`;
}

const TIME_CODES: ReadonlySet<string> = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);

/** Node.js sets `authorizationError` only if it rejected the certificate because of its chain, validity or name. */
function isUntrusted(socket: net.Socket): boolean {
  return socket instanceof tls.TLSSocket && Boolean(socket.authorizationError);
}

function reasonOf(error: Error, socket: net.Socket): ConnectReason {
  if (isUntrusted(socket)) return 'tls-untrusted';
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

/** The proxy learns only the name of the target. */
function openTunnel(
  socket: net.Socket,
  { hostname, port }: Target,
  { url, authorization }: HttpProxy,
  timeoutMilliseconds: number,
): Promise<net.Socket> {
  const target = `${net.isIPv6(hostname) ? `[${hostname}]` : hostname}:${port || '443'}`;
  return new Promise((resolve, reject) => {
    const request = http.request({
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...(authorization && { 'proxy-authorization': authorization.reveal() }) },
      createConnection: () => socket,
    });
    const fail = (reason: 'proxy-unauthorized' | 'proxy-refused', what: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new ConnectFailure(reason, `${url.origin} ${what}`));
    };
    const timer = setTimeout(() => {
      fail('proxy-refused', `did not respond to CONNECT within ${timeoutMilliseconds / 1000} s`);
    }, timeoutMilliseconds);
    request.on('connect', ({ statusCode = 0 }, _socket, first) => {
      if (statusCode < 200 || statusCode > 299) {
        return fail(
          statusCode === 407 ? 'proxy-unauthorized' : 'proxy-refused',
          `responded to CONNECT with HTTP ${statusCode}`,
        );
      }
      clearTimeout(timer);
      if (first.length > 0) socket.unshift(first);
      resolve(socket);
    });
    // This listener stays attached, because an abandoned connection may still report an error.
    request.on('error', (error) =>
      fail('proxy-refused', `did not respond to CONNECT as a proxy does: ${error.message}`),
    );
    request.end();
  });
}

/** Failures that can occur because a server rejected a resumed TLS session. */
const MAY_BE_REFUSED_SESSION: ReadonlySet<ConnectReason> = new Set(['tls-failed', 'unreachable']);

/**
 * Later connections of this process resume TLS sessions instead of a full handshake (RFC 8446, section 2.2). Sessions are
 * kept only in memory, because a stored session would allow others to decrypt a connection. Each session is used several
 * times, because some servers issue no new session on a resumed connection. Observers can then link the connections
 * (appendix C.4), but the client's address shows that too.
 */
function keepTlsSessions() {
  const newest = new Map<string, Buffer>();
  return {
    /**
     * Opens a connection with a stored session, or without one if that fails. A resumed connection checks no certificate,
     * so a session is stored only for the name (`server`) for which its certificate was trusted.
     */
    async resume<T>(server: string, open: (session: Buffer | undefined) => Promise<T>): Promise<T> {
      const session = newest.get(server);
      if (session === undefined) return open(undefined);
      try {
        return await open(session);
      } catch (failure) {
        if (newest.get(server) === session) newest.delete(server);
        if (!(failure instanceof ConnectFailure && MAY_BE_REFUSED_SESSION.has(failure.reason))) throw failure;
        return open(undefined);
      }
    },
    /** Sessions arrive only after the certificate has been accepted. */
    listen: (server: string, socket: tls.TLSSocket): void =>
      void socket.on('session', (session) => newest.set(server, session)),
  };
}
