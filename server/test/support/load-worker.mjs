// The callers of load.ts, in a thread of their own: what they wait for is the server, not each other's test.
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { server, callers, ask } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: callers });
const answers = new Map();
let going = true;

async function call() {
  const { path, headers } = ask;
  const asked = request({ agent, host: '127.0.0.1', method: 'POST', ...server, path, headers });
  asked.end(ask.body);
  try {
    const [response] = await once(asked, 'response');
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  } catch {
    return 0;
  }
}

async function callOnce() {
  const status = await call();
  answers.set(status, (answers.get(status) ?? 0) + 1);
  if (status !== 200) await sleep(10);
}

async function callAgain(first) {
  await first;
  while (going) await callOnce();
}

const first = Array.from({ length: callers }, callOnce);
const all = Promise.all(first.map(callAgain));
parentPort.on('message', async (message) => {
  if (message === 'stop') {
    going = false;
    await all;
    agent.destroy();
  }
  parentPort.postMessage(answers);
  if (message === 'stop') parentPort.close();
});
await Promise.all(first);
parentPort.postMessage('ready');
