/** How long batches gather: briefly with an idle HSM, long with a busy one, and briefly again afterwards. */

import { expect, test } from 'vitest';
import { createGathering, type Gathering } from '../../src/records/kysely-store.ts';
import type { Step } from '../../src/records/quota.ts';

const lease = { id: 'lease', clientId: 'client', expiresAt: new Date(0) };
const reserving: Step = { lease, now: new Date(0) };
const counting: Step = {
  lease,
  record: {
    ...{ id: 'record', clientId: 'client', certificate: '1', algorithm: 'SHA256', digest: new Uint8Array(32) },
    ...{ extra: undefined, signature: undefined, signedAt: new Date(0) },
  },
};
const taken = (gathering: Gathering, count: number, step: Step, place: boolean) => {
  for (let call = 0; call < count; call++) gathering.taken(step, place);
};

test('the more calls are at the HSM the longer, between 10 and 60 milliseconds', () => {
  const gathering = createGathering();
  expect(gathering.time()).toBe(10);
  taken(gathering, 90, reserving, true);
  expect(gathering.time()).toBe(30);
  taken(gathering, 900, reserving, true);
  expect(gathering.time()).toBe(60);
});

test('a call that got no place is not at the HSM', () => {
  const gathering = createGathering();
  taken(gathering, 90, reserving, false);
  expect(gathering.time()).toBe(10);
});

test('calls leave it counted, too late to be counted, or with their place given back', () => {
  const gathering = createGathering();
  taken(gathering, 90, reserving, true);
  taken(gathering, 15, counting, true);
  taken(gathering, 15, counting, false);
  expect(gathering.time()).toBe(20);
  for (let call = 0; call < 15; call += 1) gathering.released();
  expect(gathering.time()).toBe(15);
});
