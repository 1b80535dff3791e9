/** undici's agent over connections of our own: opened by our connector, the first ones ahead of need. */

import type net from 'node:net';
import type { Agent } from 'undici';
import { repairAnswerHeads } from './answer-heads.ts';
import { type Connect, type Target, targetOf } from './connect.ts';

/** Some services close idle connections after a second. They count from when they answer until the next request arrives: a round trip more. */
const IDLE_MILLISECONDS = 800;
/** One that was opened ahead of need waits for the first signature and its timestamp. Services wait longer for a first request. */
const UNUSED_MILLISECONDS = 1900;
/** Subtracted from what a service promises, because its time may have started when it sent the answer. */
const KEPT_MARGIN_MILLISECONDS = 2000;
/** Some services send long headers, and a signature after them. Options of Node.js could change undici's default of 16 KiB. */
const MAX_HEADER_BYTES = 64 * 1024;

/** @param connections the most to one origin; any number by default */
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
          // The service may ask for less, never for more.
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
    /** Loads undici on the first call. */
    get,
    /**
     * Opens the first connections to this origin, so many with those that were opened before. If the very first one fails, the
     * first request reports it, unless the connection would have been idle for too long by then.
     */
    prepare(url: URL, count: number): void {
      early.prepare(targetOf(url), count);
      get().catch(() => undefined);
    },
    /** Closes idle connections, and each of the others after its answer. */
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
  /** Connections opened so far, ahead of need or not. */
  opened: number;
  /** A proxy may lock an account whose wrong password comes many times, so its others wait for the first one ahead of need. */
  first?: Promise<net.Socket>;
  /** Those ahead of need, in their order. */
  readonly unused: Set<Promise<net.Socket>>;
}

function openEarly(open: Connect, leadsThroughProxy: boolean) {
  const origins = new Map<string, Early>();
  const originOf = (target: Target): Early => {
    const key = keyOf(target);
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
      // What came unasked would be read as the answer to the first request.
      if (socket?.readable && socket.writable && socket.readableLength === 0) return socket;
      socket?.destroy();
      return open(target);
    },
    close(): void {
      for (const origin of origins.values()) for (const opening of origin.unused) drop(origin, opening);
    },
  };
}

function keyOf({ protocol, hostname, port }: Target): string {
  return `${protocol}//${hostname}:${port}`;
}
