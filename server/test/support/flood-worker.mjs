// Bare TCP connections that send nothing, each opened again when the server closes it: a flood, in a thread of its own.
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { port, connections } = workerData;
const open = new Set();
let opened = 0;
let going = true;

function flood() {
  const socket = connect({ host: '127.0.0.1', port });
  open.add(socket);
  socket.on('connect', () => {
    opened += 1;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    open.delete(socket);
    if (going) flood();
  });
}

// As fast as the server accepts them: the kernel drops what its queue has no space for, and this side does not learn it.
const timer = setInterval(() => {
  for (let index = 0; index < 50 && open.size < connections; index++) flood();
}, 20);
parentPort.on('message', () => {
  going = false;
  clearInterval(timer);
  for (const socket of open) socket.destroy();
  parentPort.postMessage(opened);
  parentPort.close();
});
