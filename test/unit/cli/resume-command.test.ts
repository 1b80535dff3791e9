import { expect, it } from 'vitest';
import { resumeCommand } from '../../../src/cli/commands/sign.ts';

it.each([
  [{}, 'codesign-remote resume'],
  [
    { profile: 'work', json: true, dryRun: false, timestamp: true, report: true },
    'codesign-remote resume --profile work',
  ],
  [
    { certificate: ['a.pem', 'my chain.pem'], timestamp: false, algorithm: 'SHA384', description: 'App' },
    'codesign-remote resume --certificate a.pem --certificate "my chain.pem" --no-timestamp',
  ],
  [
    { timestampUrl: ['https://t.example/tsa?token=secret#x', 'http://t.example'] },
    'codesign-remote resume --timestamp-url "https://t.example/tsa?…" --timestamp-url http://t.example',
  ],
  [{ journal: false }, undefined],
])('the command that finishes a run of sign with %j is %s', (options, command) => {
  expect(resumeCommand(options)).toBe(command);
});
