/** Errors of the command line: the program's words, with suggestions, and no value that may be a secret. */

import { expect, it } from 'vitest';
import { runCli } from '../../support/programs/cli.ts';

it.each([
  ['version', 'unknown command "version" (did you mean --version?)'],
  ['ls', 'unknown command "ls" (did you mean config list or history?)'],
  ['auth', 'unknown command "auth" (did you mean login?)'],
  ['status', 'unknown command "status" (did you mean whoami or history?)'],
  ['config foo', 'unknown command "config foo"'],
  ['help sing', 'unknown command "sing" (did you mean sign?)'],
  ['sirg', 'unknown command "sirg"'],
  ['comp', 'unknown command "comp" (did you mean completion?)'],
  ['sign --algo x', 'unknown option --algo (did you mean --algorithm?)'],
  ['sign --tolken=geheim x', 'unknown option --tolken'],
  ['sign x --concurrency', '--concurrency needs a value'],
  ['completion zhs', '<shell> must be one of bash, zsh, fish, powershell (did you mean zsh?)'],
  ['completion geheim', '<shell> must be one of bash, zsh, fish, powershell'],
])('%s: %s', async (line, message) => {
  const { code, stderr } = await runCli(line.split(' '));
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(`error    ${message} [invalid-usage]\n         hint: See codesign-remote`),
  ]);
});
