/** `codesign-remote config` as a user runs it. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliRun, runCli, temporaryFolder } from '../../../support/programs/cli.ts';

interface Setting {
  readonly folder: string;
  readonly config: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliRun>;
  /** Values of a setting that `config list --json` prints; undefined if it is not set. */
  valuesOf(key: string, args?: readonly string[]): Promise<readonly string[] | undefined>;
}

/** A repository with a working folder in it, and an empty place for profiles. */
async function setting(at: string): Promise<Setting> {
  const folder = join(at, 'repository');
  const config = join(at, 'Ünï côde');
  await mkdir(join(folder, '.git'), { recursive: true });
  const run: Setting['run'] = (args, env = {}) =>
    runCli(['config', ...args], { cwd: folder, env: { CODESIGN_CONFIG_DIR: config, ...env } });
  return {
    folder,
    config,
    run,
    async valuesOf(key, args = []) {
      const { settings } = JSON.parse((await run(['list', '--json', ...args])).stdout);
      return settings.find((setting: { key: string }) => setting.key === key)?.values;
    },
  };
}

describe('config', () => {
  it('sets, lists and removes settings, and says where', async () => {
    await using temporary = await temporaryFolder();
    const { run, valuesOf, config, folder } = await setting(temporary.path);
    const file = join(config, 'config.json');
    expect(JSON.parse((await run(['list', '--json'])).stdout)).toMatchObject({ profile: 'default', file });
    expect(await run(['set', 'code', '0012'])).toMatchObject({
      code: 0,
      stdout: `stored   code in the new profile default, ${file}\n`,
    });
    expect((await run(['set', 'timestamp-url', 'http://t.example', 'http://u.example'])).code).toBe(0);
    expect((await run(['set', 'certificate', 'my chain.pem'])).code).toBe(0);
    expect(await valuesOf('timestampUrl')).toEqual(['http://t.example', 'http://u.example']);
    expect(await valuesOf('certificate')).toEqual([join(folder, 'my chain.pem')]);
    expect(await valuesOf('code')).toEqual(['0012']);
    expect((await run(['set', 'code'])).stdout).toBe(`removed  code from profile default, ${file}\n`);
    expect(await run(['set', 'code'])).toMatchObject({
      code: 0,
      stdout: 'nothing  code was not set in profile default\n',
    });
    expect(await valuesOf('code')).toBeUndefined();
  });

  it('list --origin says where each value comes from', async () => {
    await using temporary = await temporaryFolder();
    const { run, folder, config } = await setting(temporary.path);
    await mkdir(config);
    const work = {
      environments: { production: 'https://sign.example', alternate: 'https://alternate.example' },
      code: '7',
      algorithm: 'SHA384',
      description: 'Bücher\u001b[31m',
    };
    await writeFile(join(config, 'config.json'), JSON.stringify({ profiles: { work } }));
    await writeFile(
      join(folder, 'codesign-remote.config.json'),
      JSON.stringify({ algorithm: 'SHA512', output: 'signed/' }),
    );
    const env = { CODESIGN_PROFILE: 'work', CODESIGN_CONCURRENCY: '9' };
    const { stdout, code } = await run(['list', '--origin', '-e', 'alternate'], env);
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows).toContainEqual(['default', 'timeout', '30']);
    expect(rows.filter(([origin]) => origin !== 'default')).toEqual([
      ['--environment', 'environment', 'alternate'],
      ['profile work', 'baseUrl', 'https://alternate.example'],
      ['profile work', 'environments.production', 'https://sign.example'],
      ['profile work', 'environments.alternate', 'https://alternate.example'],
      ['profile work', 'code', '7'],
      ['codesign-remote.config.json', 'algorithm', 'SHA512'],
      ['codesign-remote.config.json', 'output', join(folder, 'signed/')],
      ['CODESIGN_CONCURRENCY', 'concurrency', '9'],
      ['profile work', 'description', 'Bücher\\x1b[31m'],
      [''],
    ]);
    const json = JSON.parse((await run(['list', '--json'], env)).stdout);
    expect(json).toMatchObject({ profile: 'work' });
    expect(json.settings).toContainEqual({ key: 'code', values: ['7'], origin: 'profile work' });
  });

  it('keeps profiles separate, and creates a new one', async () => {
    await using temporary = await temporaryFolder();
    const { run, valuesOf } = await setting(temporary.path);
    await run(['set', '--profile', 'work', 'environments.alternate', 'https://alternate.example']);
    await run(['set', 'code', '1'], { CODESIGN_PROFILE: 'other' });
    expect(await valuesOf('code', ['-p', 'other'])).toEqual(['1']);
    expect(await valuesOf('code', ['-p', 'work'])).toBeUndefined();
    expect(await valuesOf('environments.alternate', ['-p', 'work'])).toEqual(['https://alternate.example']);
    const { code, stderr } = await run(['list', '-p', 'wrok']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--profile: unknown profile; the profiles in .* are: .*work.*\[profile-unknown\]/);
    expect(await run(['set', '-p', 'wrok', 'code'])).toMatchObject({ code: 2 });
  });

  it('lists and removes profiles', async () => {
    await using temporary = await temporaryFolder();
    const { run, config } = await setting(temporary.path);
    expect(await run(['profiles'])).toMatchObject({ code: 0, stdout: '' });
    await run(['set', 'code', '1']);
    await run(['set', '--profile', 'work', 'code', '2']);
    expect((await run(['profiles'])).stdout).toBe('default\nwork\n');
    const removed = await run(['remove-profile', 'work']);
    expect(removed.stdout).toMatch(/^removed {2}profile work from .*config\.json\n.*logout --profile work/);
    expect(JSON.parse(await readFile(join(config, 'config.json'), 'utf8'))).toEqual({
      profiles: { default: { code: '1' } },
    });
    const again = await run(['remove-profile', 'wrok']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('[profile-unknown]')]);
    expect(again.stderr).toMatch(/hint: Use one of them\./);
    expect(again.stderr).not.toContain('init');
  });

  it.each([
    ['setting-unknown', ['set', 'algoritm', 'SHA256'], 'Did you mean algorithm?'],
    ['setting-unknown', ['set', 'algoritm'], 'Did you mean algorithm?'],
    ['setting-is-secret', ['set', 'accessSecret', 's3cret'], 'codesign-remote login'],
    ['invalid-setting', ['set', 'algorithm', 'MD5'], 'SHA256'],
    ['base-url-insecure', ['set', 'baseUrl', 'http://sign.example'], 'https:'],
    ['profile-name-invalid', ['set', '-p', '../x', 'code', '1'], '1 to 64'],
    ['invalid-usage', ['lst'], 'codesign-remote config --help'],
    ['invalid-usage', ['set'], 'codesign-remote config set --help'],
    ['invalid-usage', ['get', 'code'], 'unknown command "config get" (did you mean config list?)'],
    ['invalid-usage', ['list', 'x'], 'config list takes no arguments, but got 1 [invalid-usage]'],
  ])('%s: %j, with a hint', async (error, args, hint) => {
    await using temporary = await temporaryFolder();
    const { run, config } = await setting(temporary.path);
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`[${error}]`);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('s3cret');
    await expect(readFile(join(config, 'config.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('without a subcommand shows its help, and fails', async () => {
    const { code, stderr } = await runCli(['config']);
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: codesign-remote config');
  });

  it('names file and position of a damaged file', async () => {
    await using temporary = await temporaryFolder();
    const { run, config } = await setting(temporary.path);
    await mkdir(config);
    await writeFile(join(config, 'config.json'), '{\n  "profiles": {,}\n}');
    const { code, stderr } = await run(['list']);
    expect(code).toBe(2);
    expect(stderr).toContain(`${join(config, 'config.json')} is not JSON from line 2, column 16`);
  });
});
