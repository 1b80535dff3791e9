import { expect, test } from 'vitest';
import { createFailedLogins } from '../../src/http/auth.ts';
import { goodRequest, openApp } from '../support/in-process.ts';

const times = (count: number, work: () => number) => Array.from({ length: count }, work);

test('the first 99 failures in a minute are answered immediately, later ones one a second', () => {
  const delay = createFailedLogins();
  expect(times(99, () => delay('10.0.0.1', 5))).toEqual(Array(99).fill(0));
  expect(times(3, () => delay('10.0.0.1', 5))).toEqual([1000, 2000, 3000]);
  expect(delay('10.0.0.1', 3005)).toBe(1000);
  expect(delay('10.0.0.2', 3005)).toBe(0);
});

test('no answer is held back longer than ten seconds', () => {
  const delay = createFailedLogins();
  expect(Math.max(...times(500, () => delay('10.0.0.1', 0)))).toBe(10_000);
});

test('a minute after the first failure counting begins again', () => {
  const delay = createFailedLogins();
  times(150, () => delay('10.0.0.1', 0));
  expect(delay('10.0.0.1', 59_999)).toBeGreaterThan(0);
  expect(delay('10.0.0.1', 60_000)).toBe(0);
});

test('an IPv6 network is one address, and an IPv4 address is itself however it is written', () => {
  const delay = createFailedLogins();
  times(50, () => delay('2001:db8:0:1::1', 0));
  times(50, () => delay('2001:db8:0:1:ffff::2', 0));
  expect(delay('2001:db8:0:1::3', 0)).toBeGreaterThan(0);
  expect(delay('2001:db8:0:2::3', 0)).toBe(0);
  times(60, () => delay('10.0.0.1', 0));
  times(60, () => delay('::ffff:10.0.0.1', 0));
  expect(delay('10.0.0.1', 0)).toBeGreaterThan(0);
  expect(delay('::ffff:10.0.0.2', 0)).toBe(0);
});

test('forgets the oldest of very many addresses, and no other', () => {
  const delay = createFailedLogins();
  times(120, () => delay('10.0.0.1', 0));
  times(120, () => delay('10.0.0.2', 0));
  for (let index = 0; index < 9999; index++) delay(`address ${index}`, 1);
  expect(delay('10.0.0.2', 2)).toBeGreaterThan(0);
  expect(delay('10.0.0.1', 2)).toBe(0);
});

test('right credentials are answered immediately while wrong ones wait, and the end of the server waits for no one', async () => {
  const server = await openApp();
  try {
    const wrong = { ...server.credentials, accessSecret: 'wrong' };
    for (let index = 0; index < 99; index++) await server.sign(goodRequest(), wrong);
    const began = performance.now();
    const held = [
      server.sign(goodRequest(), wrong),
      server.sign(goodRequest(), wrong),
      server.sign(goodRequest(), wrong),
    ];
    expect((await server.sign(goodRequest())).body.code).toBe(0);
    expect(performance.now() - began).toBeLessThan(900);
    expect((await held[0])?.status).toBe(401);
    expect(performance.now() - began).toBeGreaterThan(900);
    await server.app.close();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(performance.now() - began).toBeLessThan(2900);
    expect(server.log()).toContainEqual(expect.objectContaining({ reason: 'unauthorized', delay: 1000 }));
  } finally {
    await server.close();
  }
});
