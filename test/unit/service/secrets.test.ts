/** The access secret and the Authorization header appear in no error, whatever the service or the network does. */

import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { CodesignError } from '../../../src/errors/codesign-error.ts';
import { foreignText } from '../../../src/secrets/foreign-text.ts';
import { storableRecord } from '../../../src/service/answer.ts';
import type { ServiceMode } from '../../support/services/misbehaving-service.ts';
import { ACCESS_KEY, ACCESS_SECRET, SIGN_REQUEST } from '../../support/services/service-client.ts';
import { openMisbehaving } from './misbehaving-client.ts';

const TOKEN = Buffer.from(`${ACCESS_KEY}:${ACCESS_SECRET}`).toString('base64');

async function failureOf(mode: ServiceMode): Promise<CodesignError> {
  const { service } = await openMisbehaving(mode, {}, mode === 'hangs' ? { timeoutMilliseconds: 500 } : {});
  return await service.sign(SIGN_REQUEST).then(
    () => expect.fail('it must fail'),
    (thrown: CodesignError) => thrown,
  );
}

test.each<ServiceMode>([
  ...(['refused-echoing-authorization', 'refused-echoing-encodings', 'signature-the-secret', 'refused'] as const),
  ...(['server-error-envelope', 'redirect-302', 'endless-body', 'breaks-before-answer', 'breaks-during-head'] as const),
  ...(['answers-not-http', 'breaks-handshake', 'hangs'] as const),
])('%s', async (mode) => {
  const error = await failureOf(mode);
  const shown = inspect(error, { depth: 10, showHidden: true });
  const everything = [shown, JSON.stringify(error), error.stack, error.hint].join();
  expect(everything).not.toContain(ACCESS_SECRET);
  expect(everything).not.toContain(TOKEN);
});

test('an id that contains the secret is stored as a digest with a note, and is reported unchanged', async () => {
  const { service, calls, misbehaving } = await openMisbehaving('record-the-secret');
  const { id = '' } = await service.sign(SIGN_REQUEST);
  expect(id).toMatch(/^sha256:[0-9a-f]{64} \(the id is not stored: it holds a credential\)$/);
  await service.report(id, 1);
  const encoded = Buffer.from(`x${ACCESS_SECRET}`).toString('base64');
  expect(JSON.parse(misbehaving.requests()[1]?.body ?? '')).toEqual({ id: `r-${encoded}`, status: 1 });
  expect(calls.map(({ record }) => record)).toEqual([id, id]);
});

test('an id with unusual characters that may hold the secret is a digest of it with a note', () => {
  const secrets = foreignText([ACCESS_SECRET]);
  const escaped = [...ACCESS_SECRET].map((character) => `&#${character.charCodeAt(0)};`).join('');
  expect(storableRecord(escaped, secrets)).toMatch(
    /^sha256:[0-9a-f]{64} \(the id is not stored: it may hold a credential\)$/,
  );
  for (const id of ['4bf92f3577b34da6a3ce929d0e0e4736', '{0b7f9f4e-2d0f-4c56-9f7a-3c5d8c1f2e11}', 'a b']) {
    expect(storableRecord(id, secrets)).toBe(id);
  }
});

test('ids that differ are stored as digests that differ', () => {
  const ids = ['a', 'b'].map((last) => storableRecord('x'.repeat(300) + last, foreignText([ACCESS_SECRET])));
  expect(new Set(ids).size).toBe(2);
});

test('a digest of an id, from an earlier run, is not sent as one', async () => {
  const { service, misbehaving } = await openMisbehaving('good');
  const record = `sha256:${'0'.repeat(64)} (the id is not stored: it holds a credential)`;
  await expect(service.report(record, 1)).rejects.toMatchObject({ code: 'record-id-unknown' });
  expect(misbehaving.requests()).toEqual([]);
});

describe('text from the service', () => {
  test('is shown without the credentials in any encoding', async () => {
    const { message } = await failureOf('refused-echoing-encodings');
    expect(message).toMatch(/: "(?:[^ ]{0,3}(?:\[secret\]|…)[^ ]{0,2} ?){5}"$/);
    expect(message).not.toMatch(/[0-9a-f]{16}|(%[0-9a-f]{2}){4}|(&#\d+;){4}|(\\u00..){4}/i);
  });

  test('does not show the user information of a redirect', async () => {
    const { message } = await failureOf('redirect-302');
    expect(message).toContain('https://example.com/x');
    expect(message).toContain('\\x9b31m');
    expect(message).not.toContain('word');
  });
});
