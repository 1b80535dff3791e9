/** Ids of signature records are in the order of time, and are not guessed. */
import { expect, test } from 'vitest';
import { newRecordId } from '../../src/records/records.ts';

test('is a UUID of version 7 that reports its time', () => {
  const now = new Date('2026-11-21T12:34:56.789Z');
  const id = newRecordId(now);
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now.getTime());
});

test('orders ids as they were made, to the millisecond', () => {
  const times = [0, 1, 255, 65_536, 1_700_000_000_000, 1_700_000_000_001, 253_402_300_799_999];
  const ids = times.map((time) => newRecordId(new Date(time)));
  expect(ids.toSorted()).toEqual(ids);
});

test('differs between ids, even at the same time', () => {
  const now = new Date();
  expect(new Set(Array.from({ length: 1000 }, () => newRecordId(now))).size).toBe(1000);
});
