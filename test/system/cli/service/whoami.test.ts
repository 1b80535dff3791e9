/** `whoami` with credentials of the environment: what it shows, and how it checks what a service answers to --check. */

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../support/network/listen.ts';
import { type CliRun, runCli } from '../../../support/programs/cli.ts';

const ACCESS_KEY = 'AKIA-of-somebody-WXYZ';
const ACCESS_SECRET = 'Sup3r:s3cret';
const ENV = { CODESIGN_ACCESS_KEY: ACCESS_KEY, CODESIGN_ACCESS_SECRET: ACCESS_SECRET };

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A service on this machine that gives one answer to everything. */
async function answering({ status, headers, body }: Answer) {
  const received: object[] = [];
  const service = createServer(async (request, response) => {
    received.push({ path: request.url, headers: request.headers, body: await json(request) });
    response.writeHead(status, headers).end(body);
  });
  const listening = await listen(service);
  return { ...listening, baseUrl: `http://127.0.0.1:${listening.port}/base`, received };
}

const envelope = (code: number, data: unknown = null) =>
  JSON.stringify({ code, message: `text ${ACCESS_SECRET}`, data });
const HTML = '<!DOCTYPE html><html><body>Welcome</body></html>';
const errorCode = (run: CliRun) => /\[([a-z-]+)\]$/m.exec(run.stderr)?.[1];
const check = (baseUrl: string, args: readonly string[] = []) =>
  runCli(['whoami', '--check', '--base-url', baseUrl, ...args], { env: ENV });

describe('whoami --check', () => {
  it('sends one request that the service must reject, to its address', async () => {
    await using service = await answering({ status: 400, body: envelope(400) });
    const run = await check(service.baseUrl);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('accepted'), stderr: '' });
    expect(service.received).toEqual([
      {
        path: '/base/v1/codesign/sign',
        headers: expect.objectContaining({
          authorization: `Basic ${Buffer.from(`${ACCESS_KEY}:${ACCESS_SECRET}`).toString('base64')}`,
        }),
        body: { code: '', digest: '', algorithm: 'SHA256', padding: 'NONE' },
      },
    ]);
  });

  it.each([
    ['code 401 under HTTP 200', 200, envelope(401), 5],
    ['code 401 under HTTP 403', 403, envelope(401), 4],
    ['code 401 under HTTP 503', 503, envelope(401), 4],
    ['HTTP 401 without an envelope', 401, HTML, 4],
  ])('takes %s for a refusal', async (_, status, body, exitCode) => {
    await using service = await answering({ status, body });
    const run = await check(service.baseUrl);
    expect([run.code, errorCode(run)]).toEqual([exitCode, 'unauthorized']);
    expect(service.received.length).toBe(1);
    expect(run.stderr).not.toContain(ACCESS_SECRET);
  });

  it.each([
    ['the parameter error under HTTP 200', { status: 200, body: envelope(400) }, undefined],
    ['another code', { status: 403, body: envelope(1234) }, 'code 1234 (HTTP 403)'],
    ['a fault', { status: 500, body: envelope(500) }, 'HTTP 500'],
    ['a web page', { status: 200, body: HTML }, 'does not follow the API'],
    ['nothing in the answer', { status: 200, body: '' }, 'does not follow the API'],
    ['a redirect', { status: 302, body: '', headers: { location: 'https://other.example/' } }, 'HTTP 302'],
    ['success', { status: 200, body: envelope(0, { id: 'x', signature: 'AAAA' }) }, 'counted'],
  ])('takes %s for accepted, and says what was odd', async (_name, answer, odd) => {
    await using service = await answering(answer);
    const run = await check(service.baseUrl, ['--json']);
    expect(run.code).toBe(0);
    const document = JSON.parse(run.stdout);
    expect(document).toMatchObject({ check: { accepted: true, httpStatus: answer.status } });
    expect(document.warnings).toEqual(odd === undefined ? [] : [expect.stringContaining(odd)]);
    expect(run.stderr.includes('warning')).toBe(odd !== undefined);
    expect(service.received.length).toBe(1);
    expect(run.stdout + run.stderr).not.toContain(ACCESS_SECRET);
  });
});
