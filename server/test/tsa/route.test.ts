import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encode, objectIdentifier, octetString, sequence, smallInteger } from '../../../src/asn1/write.ts';
import { basic, goodRequest, openApp, type TestApp } from '../support/in-process.ts';
import { ask, query, SHA1_IMPRINT, SHA256_IMPRINT, textOf } from '../support/timestamps.ts';

const EXTENSIONS = encode(0xa0, sequence(objectIdentifier('1.2.3'), octetString(Buffer.alloc(2))));

let server: TestApp;
beforeAll(async () => {
  server = await openApp(undefined, true);
});
afterAll(() => server.close());

test('stamps for anybody, counts nothing, keeps no record, and logs the serial number', async () => {
  const { status, headers, body } = await ask(server, query());
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('application/timestamp-reply');
  const text = textOf(body);
  expect(text).toContain('Status: Granted.');
  expect(text).toContain('Nonce: unspecified');
  const serial = /Serial number: 0x([0-9A-F]+)\n/.exec(text)?.[1]?.toLowerCase();
  expect(server.log().at(-1)).toMatchObject({
    operation: 'timestamp',
    outcome: 'granted',
    algorithm: 'SHA256',
    serial,
  });
  expect(await server.counted()).toBe(0);
});

test.each([
  ['unrecognized or unsupported algorithm identifier', 'badAlg', sequence(smallInteger(1), SHA1_IMPRINT)],
  ['transaction not permitted or supported', 'badRequest', sequence(smallInteger(2), SHA256_IMPRINT)],
  ['the data submitted has the wrong format', 'badDataFormat', Buffer.from('no DER')],
  ['the requested TSA policy is not supported by the TSA', 'unacceptedPolicy', query(objectIdentifier('1.2.3'))],
  ['the requested extension is not supported by the TSA', 'unacceptedExtension', query(EXTENSIONS)],
])('openssl reads why there is no token: %s', async (failureInfo, reason, payload) => {
  const { status, headers, body } = await ask(server, Buffer.from(payload));
  expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/timestamp-reply' });
  expect(textOf(body)).toMatch(/^Status: Rejected\.$/m);
  expect(textOf(body)).toContain(`Failure info: ${failureInfo}\n`);
  expect(server.log().at(-1)).toMatchObject({ operation: 'timestamp', outcome: 'refused', reason });
});

describe('a body that is not a timestamp request', () => {
  test.each([
    ['another content type', () => ask(server, query(), 'application/json'), 415],
    ['the type of the reply', () => ask(server, query(), 'application/timestamp-reply'), 415],
    ['more than 4 KiB', () => ask(server, Buffer.alloc(4097)), 413],
    ['another method', () => ask(server, undefined, '', 'GET'), 405],
  ])('is rejected as an error of HTTP: %s', async (_name, call, status) => {
    const answer = await call();
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toEqual({ code: status, message: expect.any(String), data: null });
    if (status === 405) expect(answer.headers.allow).toBe('POST');
    if (status === 415) expect(answer.body.toString()).toContain('application/timestamp-query');
  });

  test('is rejected without a body', async () => {
    expect(textOf((await ask(server, undefined)).body)).toContain('the data submitted has the wrong format');
  });

  test('is nothing for the operations, nor are theirs for this one', async () => {
    const path = '/v1/codesign/sign';
    const headers = { 'content-type': 'application/timestamp-query' };
    const authorization = basic(server.credentials);
    const answer = await server.call({ path, headers: { ...headers, authorization }, payload: 'x' });
    expect(answer.status).toBe(415);
    expect((await server.sign(goodRequest())).status).toBe(200);
  });
});
