import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAddressBook } from '../../../src/http/addresses.ts';
import { createConnector, type Target } from '../../../src/http/connect.ts';
import { NO_PROXIES } from '../../../src/http/proxy.ts';
import { closedPort, get, listen, openHttp } from './support/http-setting.ts';

const ROOTS = { own: undefined, all: async () => undefined };
const V4 = { address: '127.0.0.1', family: 4 };
const V6 = { address: '::1', family: 6 };

function scriptedNames(answers: readonly (() => Promise<(typeof V4)[]>)[]) {
  const asked: string[] = [];
  let time = 0;
  const names = createAddressBook(
    (hostname) => {
      asked.push(hostname);
      return answers[asked.length - 1]?.() ?? Promise.reject(new Error('asked too often'));
    },
    () => time,
  );
  const addressOf = (hostname: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      names.lookup(hostname, {}, (error, address) => (error ? reject(error) : resolve(address)));
    });
  return { names, asked, addressOf, passSeconds: (seconds: number) => (time += seconds * 1000) };
}

describe('a name', () => {
  it('is queried once for all connections that wait for it', async () => {
    const { asked, addressOf } = scriptedNames([() => delay(20, [V4])]);
    const connections = Array.from({ length: 16 }, () => addressOf('service.example'));
    expect(await Promise.all(connections)).toEqual(Array(16).fill(V4.address));
    expect(asked).toEqual(['service.example']);
  });

  it('keeps its addresses for a minute after the answer', async () => {
    const { asked, addressOf, passSeconds } = scriptedNames([async () => [V4], async () => [V6]]);
    expect(await addressOf('service.example')).toBe(V4.address);
    passSeconds(59);
    expect(await addressOf('service.example')).toBe(V4.address);
    passSeconds(2);
    expect(await addressOf('service.example')).toBe(V6.address);
    expect(asked).toHaveLength(2);
  });

  it('is queried again after a failure', async () => {
    const { addressOf } = scriptedNames([() => Promise.reject(new Error('no answer')), async () => [V4]]);
    await expect(addressOf('service.example')).rejects.toThrow('no answer');
    expect(await addressOf('service.example')).toBe(V4.address);
  });

  it('is queried again when none of its addresses was reached', async () => {
    const port = await listen(net.createServer());
    // Nothing listens at this address of the loopback network.
    const elsewhere = { address: '127.255.255.254', family: 4 };
    const { names, asked } = scriptedNames([async () => [elsewhere], async () => [V4]]);
    const { connect } = createConnector(ROOTS, 5000, names);
    const target: Target = { protocol: 'http:', hostname: 'service.example', port: String(port) };
    await expect(connect(target)).rejects.toMatchObject({ reason: 'refused' });
    (await connect(target)).destroy();
    expect(asked).toHaveLength(2);
  });
});

it('a name can be resolved before it is needed, unless a proxy resolves it', async () => {
  const server = http.createServer((_request, response) => response.end('{}'));
  const url = new URL(`http://service.example:${await listen(server)}/`);
  const proxied = { url: new URL(url), authorization: undefined };
  for (const [proxies, expected] of [
    [NO_PROXIES, ['service.example']],
    [{ ...NO_PROXIES, http: proxied }, []],
  ] as const) {
    const { names, asked } = scriptedNames([async () => [V4]]);
    const client = openHttp({ names, proxies });
    client.resolve(url);
    expect(asked).toEqual(expected);
    const outcome = await get(client, url.href);
    expect([outcome.kind, asked]).toEqual(['answer', ['service.example']]);
  }
});

describe('the addresses of a name', () => {
  /** As the system sorts them if there is no route for IPv6. */
  const both = () => scriptedNames([async () => [V4, V6]]).names;

  it('are all named if none is reached', async () => {
    const port = String(await closedPort());
    const { connect } = createConnector(ROOTS, 5000, both());
    const message = expect.stringMatching(/(?=.*::1)(?=.*127\.0\.0\.1)/);
    const connecting = connect({ protocol: 'http:', hostname: 'service.example', port });
    await expect(connecting).rejects.toMatchObject({ message });
  });

  it('have more time than a distant round trip', async () => {
    // Its queue has one place, and it accepts no connection at first. The system retries others after 1 second.
    const source = `
      const server = require('node:net').createServer((socket) => socket.on('error', () => {}));
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, server.address().port + '\\n');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
      });`;
    const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill());
    const [line] = await once(child.stdout, 'data');
    const port = Number(line);
    const fillers = Array.from({ length: 4 }, () => net.connect(port, '127.0.0.1').on('error', () => undefined));
    await delay(50);
    const { connect } = createConnector(ROOTS, 10_000, both());
    const socket = await connect({ protocol: 'http:', hostname: 'service.example', port: String(port) });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    for (const one of [socket, ...fillers]) one.destroy();
  });
});
