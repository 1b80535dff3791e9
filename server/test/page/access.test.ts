/** Who can open the page, and the headers of every answer. */

import { describe, expect, test } from 'vitest';
import { REPORT_PATH, SIGN_PATH } from '../../../src/service/messages.ts';
import { forAll } from '../../../test/support/set-up.ts';
import { basic, goodRequest, openApp } from '../support/in-process.ts';
import { addViewer } from '../support/page-scene.ts';

const PATHS = ['/', '/page.css'];

const server = await forAll(openApp());
const viewer = await addViewer(server.data.store);

const get = (url: string, by?: Parameters<typeof basic>[0], method: 'GET' | 'HEAD' = 'GET') =>
  server.app.inject({ method, url, headers: by === undefined ? {} : { authorization: basic(by) } });

describe.each(PATHS)('%s', (path) => {
  test('opens for a viewer who uses GET or HEAD', async () => {
    const shown = await get(path, viewer);
    expect(shown.statusCode).toBe(200);
    expect(shown.body.length).toBeGreaterThan(0);
    const head = await get(path, viewer, 'HEAD');
    expect({ status: head.statusCode, body: head.body }).toEqual({ status: 200, body: '' });
    expect(head.headers['content-type']).toBe(shown.headers['content-type']);
  });

  test('gives every other caller the same rejection', async () => {
    const expired = await addViewer(server.data.store, { expiresAt: new Date(Date.now() - 1000) });
    const removed = await addViewer(server.data.store);
    await server.data.store.viewers.remove(removed.accessKey);
    const strangers = [
      undefined,
      { ...viewer, accessSecret: 'wrong' },
      { ...viewer, accessSecret: '' },
      { ...viewer, accessKey: 'VK-nobody' },
      { accessKey: viewer.accessKey, accessSecret: server.credentials.accessSecret },
      server.credentials, // a client signs, and looks at nothing
      expired,
      removed,
    ];
    const answers = await Promise.all(strangers.map((stranger) => get(path, stranger)));
    for (const answer of answers) {
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
      expect(answer.body).toBe(answers[0]?.body);
      expect(answer.body).not.toContain(server.credentials.accessKey);
    }
  });

  test('allows no foreign content, no cache and no frame, for every caller', async () => {
    for (const answer of [await get(path, viewer), await get(path)]) {
      const { 'content-security-policy': policy, ...headers } = answer.headers;
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
      });
      const directives = String(policy).split('; ');
      const none = ['default-src', 'frame-ancestors', 'base-uri', 'form-action'].map((name) => `${name} 'none'`);
      expect(directives).toEqual(expect.arrayContaining(none));
      expect(String(policy)).not.toMatch(/unsafe|script-src|\*/);
    }
  });

  test('answers 405 to other methods for every caller', async () => {
    for (const headers of [{}, { authorization: basic(viewer) }]) {
      const answer = await server.call({ path, headers });
      expect(answer).toMatchObject({ status: 405, body: { code: 405, data: null }, headers: { allow: 'GET, HEAD' } });
    }
  });
});

test('no viewer can sign or report, whatever the page shows', async () => {
  const { body } = await server.sign(goodRequest());
  const headers = { authorization: basic(viewer), 'content-type': 'application/json' };
  const signed = await server.call({ path: SIGN_PATH, headers, payload: JSON.stringify(goodRequest()) });
  expect(signed).toMatchObject({ status: 401, body: { code: 401, data: null } });
  const report = JSON.stringify({ id: body.data?.id, status: 2 });
  expect(await server.call({ path: REPORT_PATH, headers, payload: report })).toMatchObject({ status: 401 });
});

test('leaves a line for each request, without secrets and without what was requested', async () => {
  await get('/?file=confidential', viewer);
  expect(server.log().at(-1)).toMatchObject({ operation: 'page', outcome: 'shown', viewer: expect.any(String) });
  await get('/?file=confidential', { ...viewer, accessSecret: 'not-the-secret' });
  expect(server.log().at(-1)).toMatchObject({ operation: 'page', outcome: 'refused', reason: 'unauthorized' });
  const hidden = ['confidential', 'not-the-secret', viewer.accessSecret, basic(viewer).slice(6)];
  for (const text of hidden) expect(server.logText()).not.toContain(text);
});
