/** A network between the program and a service: far, slow, forgetful as NAT is, or reloaded as a reverse proxy is. */

import net, { type Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { listen } from './listen.ts';

export interface TcpRelayOptions {
  readonly port: number;
  /** Opening a connection takes as long as a request and its answer. */
  readonly roundTripMilliseconds?: number | undefined;
  /** In each direction, for all connections together. */
  readonly bytesPerSecond?: number | undefined;
  /**
   * What the client sends waits until all others have sent theirs: until nothing has come for so many milliseconds. Then it
   * passes together, as one round trip, however busy the machine is.
   */
  readonly gatherMilliseconds?: number | undefined;
}

export type TcpRelay = Awaited<ReturnType<typeof startTcpRelay>>;

interface Connection {
  readonly client: Socket;
  readonly service: Socket;
  readonly toClient: Lane;
  /** The client has sent something that was not answered yet. */
  isBusy: boolean;
  isReloaded: boolean;
  isForgotten: boolean;
}

/** Passes things on in their order, each after its time on the way. */
type Lane = (bytes: number, deliver: () => void) => void;

export async function startTcpRelay(options: TcpRelayOptions) {
  const { roundTripMilliseconds = 0, bytesPerSecond = Number.POSITIVE_INFINITY, gatherMilliseconds } = options;
  const open = new Set<Connection>();
  const gathering = gatherMilliseconds === undefined ? undefined : gather(gatherMilliseconds);
  const laneUp = openLine(roundTripMilliseconds / 2, bytesPerSecond);
  const laneDown = openLine(roundTripMilliseconds / 2, bytesPerSecond);
  let isSilent = false;

  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const service = net.connect({ port: options.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const connection: Connection = {
      client,
      service,
      toClient: laneDown(0),
      isBusy: false,
      isReloaded: false,
      isForgotten: isSilent,
    };
    open.add(connection);
    const toService = gathering === undefined ? laneUp(roundTripMilliseconds) : gathering.open();
    const pass = (bytes: number, deliver: () => void): void =>
      toService(bytes, () => {
        if (!connection.isForgotten) deliver();
      });
    keep(service);
    client.on('data', (chunk) => {
      pass(chunk.length, () => {
        // It was on its way when the connection was closed.
        if (service.destroyed) return connection.toClient(0, () => client.resetAndDestroy());
        connection.isBusy = true;
        service.write(chunk);
      });
    });
    client.on('end', () => pass(0, () => service.end()));
    client.on('close', () => pass(0, () => service.destroy()));
    service.on('data', (chunk) => {
      if (connection.isForgotten) return;
      gathering?.answered();
      connection.isBusy = false;
      connection.toClient(chunk.length, () => client.write(chunk));
      if (connection.isReloaded) close(connection);
    });
    service.on('end', () => close(connection));
    service.on('close', () => {
      if (client.destroyed) open.delete(connection);
      close(connection);
    });
  });
  const { port, keep, connections, stop } = await listen(server);
  return {
    ...{ port, connections },
    /** Answered so far, with `gatherMilliseconds`. */
    roundTrips: () => gathering?.roundTrips() ?? 0,
    /** Closes idle connections, and each of the others after its answer: after what the service sends next. */
    reload() {
      for (const connection of open) {
        connection.isReloaded = true;
        if (!connection.isBusy) close(connection);
      }
    },
    /** Forgets the open connections: from now on nothing passes on them, and neither side notices. */
    forget() {
      for (const connection of open) connection.isForgotten = true;
    },
    /** Nothing passes on connections that are opened from now on. */
    silence() {
      isSilent = true;
    },
    [Symbol.asyncDispose]: stop,
  };
}

function close({ client, service, toClient, isForgotten }: Connection): void {
  if (isForgotten) return;
  service.destroy();
  toClient(0, () => client.end());
}

/** One direction of the network, whose connections share its bandwidth. */
function openLine(milliseconds: number, bytesPerSecond: number): (openingMilliseconds: number) => Lane {
  let freeAt = 0;
  return (openingMilliseconds) => {
    const openAt = performance.now() + openingMilliseconds;
    let last = Promise.resolve();
    return (bytes, deliver) => {
      freeAt = Math.max(freeAt, performance.now()) + (bytes / bytesPerSecond) * 1000;
      const arrivesAt = Math.max(freeAt, openAt) + milliseconds;
      last = last.then(async () => {
        const left = arrivesAt - performance.now();
        if (left > 0) await pause(left);
        deliver();
      });
    };
  };
}

/** Lets everything that waits pass together, as soon as nothing more comes. */
function gather(milliseconds: number) {
  let waiting: { readonly notBefore: number; readonly deliver: () => void }[] = [];
  let beats = 0;
  let answeredAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    clearTimeout(timer);
    const own = setTimeout(async () => {
      // The event loop may have been busy: what has come meanwhile belongs to this round trip.
      await turnOfEventLoop();
      await turnOfEventLoop();
      if (timer === own) passAll();
    }, milliseconds);
    timer = own;
  };
  const passAll = (): void => {
    beats += 1;
    const passing = waiting.filter(({ notBefore }) => notBefore <= beats);
    waiting = waiting.filter(({ notBefore }) => notBefore > beats);
    for (const { deliver } of passing) deliver();
    if (waiting.length > 0) wait();
  };
  return {
    open(): Lane {
      // Opening takes the next round trip, so what is sent first takes the one after it.
      const notBefore = beats + 2;
      return (_bytes, deliver) => {
        waiting.push({ notBefore, deliver });
        wait();
      };
    },
    answered(): void {
      answeredAt = beats;
      if (waiting.length > 0) wait();
    },
    roundTrips: () => answeredAt,
  };
}
