/** A server on a free port of this machine, which ends together with its connections. */

import type { AddressInfo, Server, Socket } from 'node:net';

export async function listen(server: Server, port = 0) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
  };
  server.on('connection', (socket: Socket) => {
    connections += 1;
    keep(socket);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    port: (server.address() as AddressInfo).port,
    sockets: sockets as ReadonlySet<Socket>,
    /** Destroys this socket too when the server stops. */
    keep,
    connections: () => connections,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
