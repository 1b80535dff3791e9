/** What the message of a failed call says. Every failing answer itself: test/system/cli/service/service-answers.test.ts. */

import { expect, test } from 'vitest';
import { statusErrors } from '../../../src/service/errors.ts';
import type { ServiceMode } from '../../support/services/misbehaving-service.ts';
import { SIGN_REQUEST } from '../../support/services/service-client.ts';
import { openMisbehaving } from './misbehaving-client.ts';

async function failureOf(mode: ServiceMode): Promise<unknown> {
  const { service } = await openMisbehaving(mode);
  return await service.sign(SIGN_REQUEST).catch((thrown: unknown) => thrown);
}

test.each<[ServiceMode, string]>([
  ['compressed-otherwise', 'it is compressed'],
  ['html', 'it is a web page'],
  ['empty-body', 'it is empty'],
  ['not-json', 'it is not JSON'],
  ['json-cut-short', 'its JSON is cut short or damaged'],
  ['envelope-in-an-array', 'it is not an envelope with an integer code'],
])('%s: the message says what came instead', async (mode, why) => {
  expect(await failureOf(mode)).toMatchObject({ message: expect.stringContaining(why) });
});

test.each<[ServiceMode, string]>([
  ['cut-in-the-signature', 'connection-broken'],
  ['json-cut-in-the-signature', 'malformed-answer'],
  ['success-with-two-lengths', 'connection-broken'],
  ['success-with-length-and-chunks', 'connection-broken'],
])('%s: the message says that a signature may have been counted, and of which record', async (mode, code) => {
  const message = expect.stringContaining('may have been made and counted (record record-1).');
  expect(await failureOf(mode)).toMatchObject({ code, message, record: 'record-1' });
});

test.each([
  [1, 'the service limits the rate of calls (HTTP 429)'],
  [2, 'the service limits the rate of calls (HTTP 429 after 2 attempts)'],
])('the message of a rate limit counts only repeated attempts: %i', (attempts, message) => {
  expect(statusErrors('throttled', { status: 429, attempts }).message).toBe(message);
});
