/** The process around the server: its streams. */

import { request } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../test/support/server.ts';

let server: TestServer;
afterEach(() => server.stop());

/** The status of an answer to a call that leaves a line in the log. */
const call = () =>
  new Promise<number | undefined>((resolve, reject) => {
    const asked = request(`${server.baseUrl}/nothing`, { rejectUnauthorized: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    asked.once('error', reject).end();
  });

test('serves on when whoever read its output and its log is gone', async () => {
  server = await startServer({ bits: 2048 });
  server.process.stdout?.destroy();
  server.process.stderr?.destroy();
  for (let number = 0; number < 5; number++) expect(await call()).toBe(404);
  expect(await server.stop()).toBe(0);
});
