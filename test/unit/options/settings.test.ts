import { describe, expect, it } from 'vitest';
import { attempt } from '../../../src/errors/codesign-error.ts';
import { resolveSigning } from '../../../src/options/resolve.ts';
import type { Environment, SettingsOptions } from '../../../src/options/table.ts';

const complete: SettingsOptions = { baseUrl: 'https://sign.example', code: '1', certificate: ['chain.pem'] };
const resolve = (options: SettingsOptions = {}, env: Environment = {}) =>
  resolveSigning({ ...complete, ...options }, env);

const refused = (code: string) => expect.objectContaining({ code, category: 'usage' });

describe('resolveSigning', () => {
  it.each([
    ['algorithm', ['MD5']],
    ['concurrency', ['0', '2.5', 'many']],
    ['timeout', ['-1', '1e9']],
    ['fileName', ['hash']],
    ['extra', ['host=build-1', 'hostname', '=build-1', 'signing_filesize=-1', 'signing_filesize=1.5']],
    ['extra', ['signing_filesize=99999999999999999999']],
    ['url', ['example.com', 'javascript:alert(1)']],
    ['output', ['']],
    ['timestampPolicy', ['1.2.x', '1.2.05', '3.1', '1.40.1']],
  ])('rejects as %s each of %j', (key, values) => {
    for (const value of values) {
      const message = expect.not.stringContaining('build-1');
      const error = expect.objectContaining({ code: 'invalid-setting', category: 'usage', message });
      expect(() => resolve({ [key]: key === 'extra' ? [value] : value })).toThrowError(error);
    }
  });

  it.each(['0.4.0.2023.1.1', '1.3.6.1.4.1.99999.1', '1.39', '2.999', '2.16.840.1.114412.7.1'])(
    'takes the timestamp policy %s',
    (timestampPolicy) => {
      expect(resolve({ timestampPolicy }).timestamps.policy).toBe(timestampPolicy);
    },
  );

  it.each([
    { append: true, skipSigned: true },
    // Without a timestamp they would have no effect.
    { timestamp: false, timestampAlgorithm: 'SHA384' },
    { timestamp: false, timestampPolicy: '1.2.3' },
    { timestamp: false, timestampRoots: 'roots.pem' },
  ])('rejects %j together', (options) => {
    expect(() => resolve(options)).toThrowError(refused('settings-conflict'));
  });

  it('names everything that is missing together, and the credentials unless they are in the environment', () => {
    const nothing = { baseUrl: undefined, code: undefined, certificate: undefined };
    const said = (env: Environment) => {
      const thrown = attempt(() => resolve(nothing, env));
      return 'hint' in thrown && thrown.hint?.match(/--[a-z-]+|CODESIGN_[A-Z_]+/g);
    };
    const settings = '--base-url --code --certificate CODESIGN_BASE_URL CODESIGN_CODE CODESIGN_CERTIFICATE'.split(' ');
    expect(said({})).toEqual([...settings, 'CODESIGN_ACCESS_KEY', 'CODESIGN_ACCESS_SECRET']);
    expect(said({ CODESIGN_ACCESS_KEY: 'key' })).toEqual(settings);
  });
});
