import { describe, expect, it } from 'vitest';
import { unknownVariables } from '../../../src/options/variables.ts';
import { runCli } from '../../support/programs/cli.ts';

describe('a variable that the program does not know', () => {
  it.each([
    ['CODESIGN_TIMESTAMP_ULR', 'CODESIGN_TIMESTAMP_URL'],
    ['CODESIGN_ACCES_KEY', 'CODESIGN_ACCESS_KEY'],
    ['CODESIGN_CERT', 'CODESIGN_CERTIFICATE'],
  ])('%s is probably %s', (name, meant) => {
    const warning = `unknown variable ${name}: did you mean ${meant}? [variable-unknown]`;
    expect(unknownVariables({ [name]: 'x' })).toEqual([warning]);
  });

  it.each(['CODESIGN_NO_TIMESTAMP', 'CODESIGN_IDENTITY', 'CODESIGN_'])('%s resembles no other', (name) => {
    expect(unknownVariables({ [name]: 'x' })).toEqual([`unknown variable ${name} [variable-unknown]`]);
  });

  it.each(['CODESIGN_CODE', 'CODESIGN_SERVER_CODE', 'CODESIGN_TEST_CODE', 'CODE_SIGN_CODE', 'PATH'])(
    '%s is not one',
    (name) => {
      expect(unknownVariables({ [name]: 'x' })).toEqual([]);
    },
  );

  it('is named once in a run', async () => {
    const { stderr } = await runCli(['config', 'list'], { env: { CODESIGN_NO_TIMESTAMP: '1' } });
    expect(stderr.match(/CODESIGN_NO_TIMESTAMP/g)).toHaveLength(1);
  });
});
