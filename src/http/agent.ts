import type net from 'node:net';
import type { Agent } from 'undici';
import { repairAnswerHeads } from './answer-heads.ts';
import { type Connect, type Target, targetOf } from './connect.ts';

/** Some services close a connection after one second without a request, counted from the last response. */
const IDLE_MILLISECONDS = 800;
/** Services wait longer for the first request on a connection than for later ones. */
const UNUSED_MILLISECONDS = 1900;
/** The announced keep-alive time may start when the service sends the response, so this margin is subtracted. */
const KEPT_MARGIN_MILLISECONDS = 2000;
/** Options of Node.js can change the default limit. */
const MAX_HEADER_BYTES = 64 * 1024;

export function createAgent(open: Connect, connections: number | undefined, leadsThroughProxy = false) {
  const early = openEarly(open, leadsThroughProxy);
  let agent: Promise<Agent> | undefined;
  const get = (): Promise<Agent> => {
    agent ??= import('undici').then(
      (undici) =>
        new undici.Agent({
          connect: (target, done) => {
            early.connect(target).then(
              (socket) => done(null, repairAnswerHeads(socket, MAX_HEADER_BYTES)),
              (failure: Error) => done(failure, null),
            );
          },
          connections: connections ?? null,
          keepAliveTimeout: IDLE_MILLISECONDS,
          // The service may shorten the keep-alive time, but never extend it.
          keepAliveMaxTimeout: IDLE_MILLISECONDS,
          keepAliveTimeoutThreshold: KEPT_MARGIN_MILLISECONDS,
          maxHeaderSize: MAX_HEADER_BYTES,
          // The deadline of each request is the only time limit.
          headersTimeout: 0,
          bodyTimeout: 0,
        }),
    );
    return agent;
  };
  return {
    /** The first call loads the undici package. */
    get,
    /** The first request reports a failure of the first connection. */
    prepare(url: URL, count: number): void {
      early.prepare(targetOf(url), count);
      get().catch(() => undefined);
    },
    /** Closes idle connections immediately, and the others after their responses have arrived. */
    async retire(): Promise<void> {
      early.close();
      await (await agent)?.close();
    },
    async close(): Promise<void> {
      early.close();
      await (await agent)?.destroy();
    },
  };
}

interface Early {
  opened: number;
  /** Further connections wait for this one, because a proxy may lock an account after several wrong passwords. */
  first?: Promise<net.Socket>;
  readonly unused: Set<Promise<net.Socket>>;
}

function openEarly(open: Connect, leadsThroughProxy: boolean) {
  const origins = new Map<string, Early>();
  const originOf = (target: Target): Early => {
    const key = `${target.protocol}//${target.hostname}:${target.port}`;
    const origin = origins.get(key) ?? { opened: 0, unused: new Set() };
    origins.set(key, origin);
    return origin;
  };
  const drop = ({ unused }: Early, opening: Promise<net.Socket>): void => {
    if (!unused.delete(opening)) return;
    opening.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
  };
  return {
    prepare(target: Target, count: number): void {
      const origin = originOf(target);
      for (; origin.opened < count; origin.opened += 1) {
        const opening =
          leadsThroughProxy && origin.first !== undefined ? origin.first.then(() => open(target)) : open(target);
        origin.first ??= opening;
        origin.unused.add(opening);
        const dropLater = (): unknown => setTimeout(drop, UNUSED_MILLISECONDS, origin, opening).unref();
        opening.then(dropLater, origin.opened === 0 ? dropLater : () => drop(origin, opening));
      }
    },
    async connect(target: Target): Promise<net.Socket> {
      const origin = originOf(target);
      const [opening] = origin.unused;
      if (opening !== undefined) origin.unused.delete(opening);
      else origin.opened += 1;
      const socket = await opening;
      // Data that arrived before the first request would be read as its response.
      if (socket?.readable && socket.writable && socket.readableLength === 0) return socket;
      socket?.destroy();
      return open(target);
    },
    close(): void {
      for (const origin of origins.values()) for (const opening of origin.unused) drop(origin, opening);
    },
  };
}
