/** What `sign` prints while it waits. */

import { expect, it } from 'vitest';
import { changeConsole } from '../../../../src/cli/output/changes/change-console.ts';
import type { SigningEvent } from '../../../../src/signing/outcome.ts';
import { played, playedIo } from '../../../support/played-io.ts';

function said(options: { readonly quiet: boolean; readonly json: boolean }, event: SigningEvent) {
  const [stdout, stderr] = [played(), played()];
  const console = changeConsole(playedIo({ stdout, stderr }), { ...options, verbose: false }, 'signed');
  console.event(event);
  return [stdout.read(), stderr.read()];
}

const OTHER_PROCESS = { type: 'waiting', path: 'app\u001b.exe', whom: 'process 4711 on build-3' } as const;
const waitingToRetry = (milliseconds: number) =>
  ({ type: 'waiting-to-retry', reason: 'sign app.exe: HTTP 503', milliseconds, attempt: 2, maxAttempts: 5 }) as const;

const LINE = 'waiting  app\\x1b.exe waits for process 4711 on build-3, which requests the same signature\n';

it.each([
  { quiet: false, json: false, expected: [null, LINE] },
  { quiet: false, json: true, expected: [null, LINE] },
  { quiet: true, json: false, expected: [null, null] },
])('is progress, and no result: quiet $quiet, json $json', ({ expected, ...options }) => {
  expect(said(options, OTHER_PROCESS)).toEqual(expected);
});

it.each([
  [7200, false, 'waiting  7 s before attempt 2 of 5: sign app.exe: HTTP 503\n'],
  [7200, true, null],
  [4900, false, null],
])('a wait of %i ms for a retry, quiet %s: %j', (milliseconds, quiet, expected) => {
  expect(said({ quiet, json: false }, waitingToRetry(milliseconds))).toEqual([null, expected]);
});
