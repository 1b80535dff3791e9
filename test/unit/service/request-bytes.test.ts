/** The requests byte for byte, as a bare socket receives them. */

import net, { type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createHttp } from '../../../src/http/http.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { createSigningService } from '../../../src/service/client.ts';

const ANSWER = '{"code":0,"message":"ok","data":{"id":"r","signature":"AAAA"}}';

function receive(received: string[]): (socket: net.Socket) => void {
  return (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      received.push(data.toString('latin1'));
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${ANSWER.length}\r\n\r\n${ANSWER}`);
    });
  };
}

function expected(host: string, path: string, body: string): string {
  return [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    'connection: keep-alive',
    'content-type: application/json',
    'accept: application/json',
    'user-agent: codesign-remote/1.2.3',
    // Base64 of "clé:s3cr:et" in UTF-8.
    'authorization: Basic Y2zDqTpzM2NyOmV0',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

test('sign and report-sign', async () => {
  const received: string[] = [];
  const server = net.createServer(receive(received));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const service = createSigningService({
    baseUrl: new URL(`http://${host}/tenants/a%20b/`),
    credentials: { accessKey: 'clé', accessSecret: new Secret('s3cr:et') },
    http: createHttp({
      roots: { own: undefined, all: async () => undefined },
      userAgent: 'codesign-remote/1.2.3',
    }),
    timeoutMilliseconds: 10_000,
  });
  const extra = { platform: 'linux x64', hostname: 'hôte', signing_filename: 'a.exe', signing_filesize: 3 };
  await service.sign({ code: '1001', digest: Uint8Array.of(0, 1, 254, 255), algorithm: 'SHA256', extra });
  await service.report('record "1"', 2);
  await service.close();
  await new Promise((resolve) => server.close(resolve));

  const sign = '/tenants/a%20b/v1/codesign/sign';
  expect(received.map((text) => Buffer.from(text, 'latin1').toString('utf8'))).toEqual([
    expected(
      host,
      sign,
      '{"code":"1001","digest":"AAH+/w==","algorithm":"SHA256","padding":"PKCS1","extra":{"platform":"linux x64","hostname":"hôte","signing_filename":"a.exe","signing_filesize":3}}',
    ),
    expected(host, '/tenants/a%20b/v1/codesign/report-sign', '{"id":"record \\"1\\"","status":2}'),
  ]);
});
