/** The process around the server: its streams. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { startServer } from '../../../test/support/services/server.ts';
import { SERVER_PROGRAM } from '../../../test/support/services/server-data.ts';
import { boundedLog } from '../../src/http/log.ts';

test('ends even if its log is not read and a connection is silent', async () => {
  const server = await startServer({ bits: 2048 });
  server.process.stderr?.pause();
  const { port } = new URL(server.baseUrl);
  const silent = connectTcp({ host: '127.0.0.1', port: Number(port) });
  await once(silent, 'connect');
  silent.on('error', () => {});
  // More than a pipe, and the reader's own memory, hold.
  const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
  let answers = 0;
  socket.on('data', (bytes: Buffer) => {
    answers += bytes.toString('latin1').split('HTTP/1.1 404 ').length - 1;
  });
  for (let sent = 0; sent < 1500; sent += 50) {
    socket.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50));
    while (answers < sent + 50) await once(socket, 'data');
  }
  expect(await server.stop()).toBe(0);
  silent.destroy();
  socket.destroy();
});

test.each([
  ['fails if the disk has no space for the result of a command', '/dev/full', 6, /^codesign-remote-server: .*ENOSPC/],
  ['succeeds if the reader of the result exits', '>(:)', 0, /^$/],
])('%s', (_, target, exitCode, errors) => {
  const script = `exec > ${target}; sleep 0.1; exec "$0" "$1" --help`;
  const command = ['-c', script, process.execPath, SERVER_PROGRAM];
  const { status, stderr } = spawnSync('bash', command, { encoding: 'utf8' });
  expect(stderr).toMatch(errors);
  expect(status).toBe(exitCode);
});

test('drops log lines while too much of the log waits for its reader, and says how many, and escapes what controls a terminal', () => {
  const written: string[] = [];
  let waiting = 0;
  const log = boundedLog({
    write: (line: string) => written.push(line) > 0,
    get writableLength() {
      return waiting;
    },
  });
  log.write('first\n');
  waiting = 5 * 1024 * 1024;
  log.write('lost\n');
  log.write('lost too\n');
  waiting = 0;
  log.write('last\n');
  log.write('{"very last":"a\u009b\u202e\u{e0001}b"}\n');
  const [first, dropped = '', ...last] = written;
  expect([first, ...last]).toEqual(['first\n', 'last\n', '{"very last":"a\\u009b\\u202e\\udb40\\udc01b"}\n']);
  expect(JSON.parse(dropped)).toEqual({ level: 40, outcome: 'log-dropped', lines: 2 });
});
