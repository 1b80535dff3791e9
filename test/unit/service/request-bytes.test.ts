/** The requests byte for byte, as a bare socket receives them. */

import net from 'node:net';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/secrets/secret.ts';
import { createSigningService } from '../../../src/service/client.ts';
import { listen, openHttp } from '../http/support/http-setting.ts';

const ANSWER = '{"code":0,"message":"ok","data":{"id":"r","signature":"AAAA"}}';

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
  const server = net.createServer((socket) => {
    socket.on('data', (data) => {
      received.push(data.toString());
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${ANSWER.length}\r\n\r\n${ANSWER}`);
    });
  });
  const host = `127.0.0.1:${await listen(server)}`;

  const service = createSigningService({
    baseUrl: new URL(`http://${host}/tenants/a%20b/`),
    credentials: { accessKey: 'clé', accessSecret: new Secret('s3cr:et') },
    http: openHttp({ userAgent: 'codesign-remote/1.2.3' }),
    timeoutMilliseconds: 10_000,
  });
  const extra = { platform: 'linux x64', hostname: 'hôte', signing_filename: 'a.exe', signing_filesize: 3 };
  await service.sign({ code: '1001', digest: Uint8Array.of(0, 1, 254, 255), algorithm: 'SHA256', extra });
  await service.report('record "1"', 2);

  const sign = '/tenants/a%20b/v1/codesign/sign';
  expect(received).toEqual([
    expected(
      host,
      sign,
      '{"code":"1001","digest":"AAH+/w==","algorithm":"SHA256","padding":"PKCS1","extra":{"platform":"linux x64","hostname":"hôte","signing_filename":"a.exe","signing_filesize":3}}',
    ),
    expected(host, '/tenants/a%20b/v1/codesign/report-sign', '{"id":"record \\"1\\"","status":2}'),
  ]);
});
