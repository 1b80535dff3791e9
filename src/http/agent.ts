/** undici's agent over connections of our own: opened by our connector, the first one ahead of need. */

import type net from 'node:net';
import type { Agent } from 'undici';
import { repairAnswerHeads } from './answer-heads.ts';
import { type Connect, type Target, targetOf } from './connect.ts';

/** A request goes on a connection that was idle for less than 2 seconds, or on a fresh one. */
const IDLE_MILLISECONDS = 1900;
/** Subtracted from what a service promises, because its time may have started when it sent the answer. */
const KEPT_MARGIN_MILLISECONDS = 2000;
/** Some services send long headers, and a signature after them. Options of Node.js could change undici's default of 16 KiB. */
const MAX_HEADER_BYTES = 64 * 1024;

/** @param connections the most to one origin; any number by default */
export function createAgent(open: Connect, connections: number | undefined) {
  const early = openEarly(open);
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
     * Opens the first connection to this origin. If that fails, the first request reports it, unless the connection would
     * have been idle for too long by then.
     */
    prepare(url: URL): void {
      early.prepare(targetOf(url));
      get().catch(() => undefined);
    },
    async close(): Promise<void> {
      early.close();
      await (await agent)?.destroy();
    },
  };
}

function openEarly(open: Connect) {
  const known = new Set<string>();
  const early = new Map<string, Promise<net.Socket>>();
  const drop = (key: string, opening: Promise<net.Socket>): void => {
    if (early.get(key) !== opening) return;
    early.delete(key);
    opening.then(
      (socket) => socket.destroy(),
      () => undefined,
    );
  };
  return {
    prepare(target: Target): void {
      const key = keyOf(target);
      if (known.has(key)) return;
      known.add(key);
      const opening = open(target);
      early.set(key, opening);
      const dropLater = (): unknown => setTimeout(drop, IDLE_MILLISECONDS, key, opening).unref();
      opening.then(dropLater, dropLater);
    },
    async connect(target: Target): Promise<net.Socket> {
      const key = keyOf(target);
      const opening = early.get(key);
      known.add(key);
      early.delete(key);
      const socket = await opening;
      // What came unasked would be read as the answer to the first request.
      if (socket?.readable && socket.writable && socket.readableLength === 0) return socket;
      socket?.destroy();
      return open(target);
    },
    close(): void {
      for (const [key, opening] of early) drop(key, opening);
    },
  };
}

function keyOf({ protocol, hostname, port }: Target): string {
  return `${protocol}//${hostname}:${port}`;
}
