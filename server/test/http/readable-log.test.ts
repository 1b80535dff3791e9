import { expect, test } from 'vitest';
import { readableLine } from '../../src/http/readable-log.ts';

const AT = new Date(2026, 0, 2, 3, 4, 5).getTime();
const COMMON = { time: AT, pid: 7, hostname: 'box', reqId: 'req-1' };

test.each([
  [
    'a call',
    { level: 30, remoteAddress: '::1', accessKey: 'AK1', operation: 'sign', outcome: 'signed', duration: 12 },
    '03:04:05 info  sign signed remoteAddress=::1 accessKey=AK1 duration=12\n',
  ],
  ['an unknown caller', { level: 30, accessKey: 'unknown', outcome: 'refused' }, '03:04:05 info  refused\n'],
  [
    'a message and a value of several words',
    { level: 40, clientEnv: '/a b', msg: 'wrote it' },
    '03:04:05 warn  wrote it clientEnv="/a b"\n',
  ],
  [
    'a warning with its error',
    { level: 40, outcome: 'unsettled', err: { message: 'no answer', stack: 'Error: no answer\n    at x' } },
    '03:04:05 warn  unsettled error="no answer"\n',
  ],
  [
    'an error with its stack',
    { level: 50, outcome: 'failed', err: { message: 'gone', stack: 'Error: gone\n    at x' } },
    '03:04:05 error failed error=gone\nError: gone\n    at x\n',
  ],
  [
    'characters that control a terminal',
    { level: 30, client: 'a\u001b[2Jb\u202e', msg: '\u001b' },
    '03:04:05 info  \\u001b client=a\\u001b[2Jb\\u202e\n',
  ],
])('prints %s as one readable line', (_name, line, expected) => {
  expect(readableLine(`${JSON.stringify({ ...COMMON, ...line })}\n`)).toBe(expected);
});
