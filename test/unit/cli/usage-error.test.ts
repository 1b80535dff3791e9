/** Errors of the command line: the program's words, with suggestions, and no value that may be a secret. */

import { expect, it } from 'vitest';
import { runCli } from '../../support/programs/cli.ts';

it.each([
  ['version', 'unknown command "version" (did you mean --version?)'],
  ['ls', 'unknown command "ls" (did you mean config list or history?)'],
  ['auth', 'unknown command "auth" (did you mean login?)'],
  ['status', 'unknown command "status" (did you mean whoami or history?)'],
  ['config ls', 'unknown command "config ls" (did you mean config list?)'],
  ['config lst', 'unknown command "config lst" (did you mean config list?)'],
  ['config foo', 'unknown command "config foo"'],
  ['hel', 'unknown command "hel" (did you mean help?)'],
  ['help sing', 'unknown command "sing" (did you mean sign?)'],
  ['comp', 'unknown command "comp" (did you mean completion?)'],
  ['vrfy x', 'unknown command "vrfy"'],
  ['sign --algo x', 'unknown option --algo (did you mean --algorithm?)'],
  ['sign --tolken=geheim x', 'unknown option --tolken'],
  ['sign x --concurrency', '--concurrency needs a value'],
  ['config list x', 'config list takes no arguments, but got 1'],
  ['explain a geheim', 'explain takes 1 argument, but got 2'],
  ['attach a b c', 'attach takes 2 arguments, but got 3'],
  ['completion zhs', '<shell> must be one of bash, zsh, fish, powershell (did you mean zsh?)'],
  ['completion geheim', '<shell> must be one of bash, zsh, fish, powershell'],
  ['explain', 'missing argument <code>: error code, as shown in brackets at the end of error messages'],
  ['verify x --verbose --quiet', '--quiet and --verbose cannot be used together'],
])('%s: %s', async (line, message) => {
  const { code, stderr } = await runCli(line.split(' '));
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(`error    ${message} [invalid-usage]\n         hint: See codesign-remote`),
  ]);
});
