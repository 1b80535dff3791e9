/** The access secret and the Authorization header appear in no error, whatever the service or the network does. */

import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { CodesignError } from '../../src/errors/codesign-error.ts';
import { type ServiceMode, startMisbehavingService } from '../support/misbehaving-service.ts';
import { ACCESS_KEY, ACCESS_SECRET, openServiceClient, SIGN_REQUEST } from '../support/service-client.ts';

const TOKEN = Buffer.from(`${ACCESS_KEY}:${ACCESS_SECRET}`).toString('base64');

async function failureOf(mode: ServiceMode): Promise<CodesignError> {
  const { baseUrl, caFile, stop } = await startMisbehavingService(mode);
  const { service } = await openServiceClient({ baseUrl, caFile, timeoutMilliseconds: 500 });
  try {
    return await service.sign(SIGN_REQUEST).then(
      () => expect.fail('it must fail'),
      (thrown: CodesignError) => thrown,
    );
  } finally {
    await service.close();
    await stop();
  }
}

test.each<[ServiceMode]>([
  ['refused-echoing-authorization'],
  ['refused'],
  ['unauthorized-401'],
  ['html'],
  ['server-error-envelope'],
  ['redirect-302'],
  ['endless-body'],
  ['breaks-before-answer'],
  ['breaks-during-head'],
  ['answers-not-http'],
  ['breaks-handshake'],
  ['hangs'],
])('%s', async (mode) => {
  const error = await failureOf(mode);
  const everything = [
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    error.stack,
    error.hint,
  ].join();
  expect(everything).not.toContain(ACCESS_SECRET);
  expect(everything).not.toContain(TOKEN);
});

describe("the service's own words", () => {
  test('are shown with the credentials taken out', async () => {
    const error = await failureOf('refused-echoing-authorization');
    expect(error.message).toContain(`you sent Basic [secret], which is ${ACCESS_KEY}:[secret]`);
  });

  test('are shown without control characters, and not at any length', async () => {
    const { message } = await failureOf('refused-with-escapes');
    expect(message).toContain('\\x1b[31mred\\u{202e}\\n:\\x3aerror::x');
    expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(message.length).toBeLessThan(600);
  });

  test('do not show the user information of a redirect', async () => {
    const { message } = await failureOf('redirect-302');
    expect(message).toContain('https://example.com/x');
    expect(message).toContain('\\x9b31m');
    expect(message).not.toContain('word');
  });
});
