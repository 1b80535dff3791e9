/** Kept connections: each carries one request at a time, and none that was idle for long. */

import type net from 'node:net';

export interface ConnectionsOptions<Target> {
  /** Gives a connection that is open, TLS and all. */
  readonly open: (target: Target) => Promise<net.Socket>;
  /** Connections to one origin; whoever comes beyond them waits for one. */
  readonly most: number;
  /** For so long a connection may lie idle. */
  readonly idleMilliseconds: number;
}

export interface Connections<Target> {
  /**
   * The connection to this origin that was used last, or a new one to the target. Undefined when it is not wanted any more
   * as its turn comes. Rejects where none can be opened.
   */
  take(origin: string, target: Target, isWanted: () => boolean): Promise<net.Socket | undefined>;
  /**
   * Opens the first one of an origin ahead of need. That it fails is learned by who wants it next, unless that is later than
   * it would have lain idle; what was refused once is not asked for a second time.
   */
  prepare(origin: string, target: Target): void;
  /** Gives back what was taken: it is kept where both sides still have it open, for so many milliseconds at most. */
  give(origin: string, socket: net.Socket, milliseconds?: number): void;
  /** Ends all of them. */
  close(): void;
}

interface Origin {
  /** The last one was used last. */
  readonly idle: IdleConnection[];
  readonly waiting: (() => void)[];
  /** Of connections, taken or being opened. */
  places: number;
  /** One that nobody has taken yet, or could not be opened; it has a place. */
  opening: Promise<net.Socket> | undefined;
}

interface IdleConnection {
  readonly socket: net.Socket;
  /** Takes it out of those that are idle. */
  leave(): void;
}

export function keepConnections<Target>(options: ConnectionsOptions<Target>): Connections<Target> {
  const { open, most, idleMilliseconds } = options;
  const origins = new Map<string, Origin>();
  const all = new Set<net.Socket>();
  let isClosed = false;

  const originOf = (name: string): Origin => {
    const known = origins.get(name) ?? { idle: [], waiting: [], places: 0, opening: undefined };
    origins.set(name, known);
    return known;
  };

  const takePlace = async (origin: Origin): Promise<void> => {
    if (origin.places < most) origin.places += 1;
    else await new Promise<void>((resolve) => origin.waiting.push(resolve));
  };

  const leavePlace = (origin: Origin): void => {
    const next = origin.waiting.shift();
    if (next === undefined) origin.places -= 1;
    else next();
  };

  const openNew = async (target: Target): Promise<net.Socket> => {
    const socket = await open(target);
    if (isClosed) socket.destroy();
    all.add(socket);
    return socket.once('close', () => all.delete(socket));
  };

  const give = (name: string, socket: net.Socket, milliseconds = idleMilliseconds): void => {
    const origin = originOf(name);
    const least = Math.min(milliseconds, idleMilliseconds);
    if (isOpen(socket) && least > 0) origin.idle.push(keepIdle(origin, socket, least));
    else socket.destroy();
    leavePlace(origin);
  };

  return {
    prepare(name, target) {
      const origin = originOf(name);
      if (isClosed || origin.places > 0 || origin.idle.length > 0) return;
      origin.places += 1;
      const opening = openNew(target);
      origin.opening = opening;
      const isLeft = (): boolean => {
        if (origin.opening !== opening) return false;
        origin.opening = undefined;
        return true;
      };
      opening.then(
        (socket) => isLeft() && give(name, socket),
        () => setTimeout(() => isLeft() && leavePlace(origin), idleMilliseconds).unref(),
      );
    },
    async take(name, target, isWanted) {
      const origin = originOf(name);
      const { opening } = origin;
      origin.opening = undefined;
      if (opening === undefined) await takePlace(origin);
      try {
        if (isClosed) throw new Error('all connections have been closed');
        if (opening !== undefined) return await opening;
        if (isWanted()) return takeIdle(origin) ?? (await openNew(target));
      } catch (failure) {
        leavePlace(origin);
        throw failure;
      }
      leavePlace(origin);
      return undefined;
    },
    give,
    close() {
      isClosed = true;
      for (const socket of all) socket.destroy();
      for (const { waiting } of origins.values()) for (const next of waiting.splice(0)) next();
    },
  };
}

function takeIdle({ idle }: Origin): net.Socket | undefined {
  const found = idle.findLast(({ socket }) => isOpen(socket));
  found?.leave();
  return found?.socket;
}

function keepIdle({ idle }: Origin, socket: net.Socket, milliseconds: number): IdleConnection {
  // What comes now answers no request: whatever it is, none may go on this connection any more.
  const drop = (): void => void socket.destroy();
  const timer = setTimeout(drop, milliseconds);
  const connection: IdleConnection = {
    socket,
    leave() {
      clearTimeout(timer);
      socket.off('data', drop).off('end', drop).off('close', connection.leave);
      idle.splice(idle.indexOf(connection), 1);
    },
  };
  socket.on('data', drop).on('end', drop).on('close', connection.leave);
  return connection;
}

function isOpen(socket: net.Socket): boolean {
  return !socket.destroyed && socket.readable && socket.writable;
}
