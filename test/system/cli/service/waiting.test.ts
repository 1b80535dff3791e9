/** What `sign` says while another process asks for the same signature. */

import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Io } from '../../../../src/cli/io.ts';
import { ChangeConsole } from '../../../../src/cli/output/changes/change-console.ts';

function said(options: { readonly quiet: boolean; readonly json: boolean }): readonly (string | null)[] {
  const [stdout, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const io: Io = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    onSignal: () => () => undefined,
    outputFault: () => undefined,
    onSuccess: () => undefined,
    exit: () => {
      throw new Error('nothing ends here');
    },
  };
  const console = new ChangeConsole(io, { ...options, verbose: false }, 'signed');
  console.event({ type: 'waiting', path: 'app\u001b.exe', whom: 'process 4711 on build-3' });
  return [stdout.read(), stderr.read()];
}

const LINE = 'waiting  app\\x1b.exe waits for process 4711 on build-3, which asks for the same signature\n';

it.each([
  { quiet: false, json: false, expected: [null, LINE] },
  { quiet: false, json: true, expected: [null, LINE] },
  { quiet: true, json: false, expected: [null, null] },
])('is progress, and no result: quiet $quiet, json $json', ({ expected, ...options }) => {
  expect(said(options)).toEqual(expected);
});
