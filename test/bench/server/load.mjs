// The load: `node load.mjs`, settings as JSON on standard input; one request at a time on each of a few kept connections, over TLS.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';

const HEADERS_END = Buffer.from('\r\n\r\n');
const GOOD = Buffer.from('HTTP/1.1 200 ');

const settings = JSON.parse(await text(process.stdin));
const request = requestOf(settings);
const ca = readFileSync(settings.caFile);
const connections = await Promise.all(
  Array.from({ length: settings.connections }, () => openConnection(settings.port)),
);
const rate = await closedLoop(settings);
for (const { socket } of connections) socket.destroy();
console.log(JSON.stringify({ rate, first: connections[0].first }));

/** As fast as the answers come, for `seconds` after `warm`. @returns answers a second */
async function closedLoop({ warm, seconds }) {
  const from = performance.now() + warm * 1000;
  const to = from + seconds * 1000;
  let answers = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let now = 0; now < to; ) {
        await connection.ask();
        now = performance.now();
        if (now >= from && now < to) answers += 1;
      }
    }),
  );
  return answers / seconds;
}

/** A connection on which one thing at a time is asked. Anything but a 200 as long as the first one ends the process. */
async function openConnection(port) {
  const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  socket.setNoDelay(true);
  let answered;
  let length;
  let parts = [];
  let received = 0;
  const connection = {
    socket,
    first: undefined,
    ask: () =>
      new Promise((resolve) => {
        answered = resolve;
        socket.write(request);
      }),
  };
  socket.on('data', (chunk) => {
    received += chunk.length;
    const whole = parts.length === 0 ? chunk : Buffer.concat([...parts, chunk]);
    if (!whole.subarray(0, GOOD.length).equals(GOOD)) throw new Error(`the server answered ${whole}`);
    length ??= lengthOf(whole);
    if (length === undefined || received < length) {
      parts = [whole];
      return;
    }
    if (received > length) throw new Error(`the server answered more than it was asked: ${whole}`);
    connection.first ??= whole.subarray(whole.indexOf(HEADERS_END) + HEADERS_END.length).toString();
    parts = [];
    received = 0;
    answered();
  });
  socket.on('close', () => {
    if (length !== undefined && received > 0) throw new Error('the server hung up');
  });
  return connection;
}

/** Of the headers and the body; the same for each answer, since ids and signatures have one length. */
function lengthOf(answer) {
  const end = answer.indexOf(HEADERS_END);
  const body = /\r\ncontent-length: (\d+)/i.exec(answer.toString('latin1', 0, Math.max(0, end)))?.[1];
  return end < 0 ? undefined : end + HEADERS_END.length + Number(body);
}

function requestOf({ path, port, accessKey, accessSecret, code }) {
  const digest = Buffer.alloc(32, 7).toString('base64');
  const file = { signing_filename: 'app.exe', signing_filesize: 1_234_567 };
  const extra = { platform: 'linux', version: '1.0.0', time: '2030-01-01T00:00:00.000Z', hostname: 'build', ...file };
  const body = JSON.stringify({ code, digest, algorithm: 'SHA256', padding: 'PKCS1', extra });
  const credentials = Buffer.from(`${accessKey}:${accessSecret}`).toString('base64');
  return Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      `Host: localhost:${port}`,
      `Authorization: Basic ${credentials}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}
