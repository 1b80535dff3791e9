import { describe, expect, it } from 'vitest';
import { readCredentials } from '../../../src/options/credentials/credentials.ts';
import { settingsErrors } from '../../../src/options/errors.ts';
import { resolveSigning } from '../../../src/options/resolve.ts';
import { unknownVariables } from '../../../src/options/variables.ts';
import { runCli } from '../../support/programs/cli.ts';

const refuse = () => Promise.reject(settingsErrors('keychain-unavailable', { reason: 'no D-Bus' }));
const keychain = { read: refuse, write: refuse, remove: refuse };
const account = { profile: 'default', environment: 'production' };
const credentials = (env: Readonly<Record<string, string>>) =>
  readCredentials({ env, origin: undefined, account, keychain, file: '/nowhere' });

describe('a variable that is set but empty', () => {
  it.each<[string, { key: string; secret?: string }]>([
    ['CODESIGN_ACCESS_KEY and CODESIGN_ACCESS_SECRET are set but empty', { key: '', secret: '' }],
    ['CODESIGN_ACCESS_SECRET is set but empty', { key: 'key', secret: '' }],
    ['CODESIGN_ACCESS_SECRET not set', { key: 'key' }],
  ])('%s: %j', async (words, { key, secret }) => {
    const env = { CODESIGN_ACCESS_KEY: key, ...(secret !== undefined && { CODESIGN_ACCESS_SECRET: secret }) };
    const message = `no credentials for the service: ${words}`;
    await expect(credentials(env)).rejects.toMatchObject({ code: 'credentials-missing', message });
  });

  it('is named where a setting is missing', () => {
    const env = { CODESIGN_CODE: '', CODESIGN_ACCESS_KEY: '' };
    const act = () => resolveSigning({ baseUrl: 'https://x.example', certificate: ['chain.pem'] }, env);
    expect(act).toThrow(/the service \(CODESIGN_CODE and CODESIGN_ACCESS_KEY are set but empty\)$/);
  });

  it('is not named where the keychain has no part in the failure', async () => {
    await expect(credentials({})).rejects.toMatchObject({ code: 'keychain-unavailable' });
  });
});

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
