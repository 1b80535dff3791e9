/** Commands that go by stored settings: the project's file and profiles, as a user has them. */

import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CliRun,
  fixture,
  parseJson,
  runCli,
  runCliProcess,
  temporaryFolder,
} from '../../../support/programs/cli.ts';
import { type SharedServer, useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';

const server = await forAll(useServer({ tsa: true }));

interface Setting {
  /** Below the project's root. */
  readonly folder: string;
  readonly root: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CliRun>;
}

/** Everything but credentials is in files: in the environment is nothing else. */
async function setting(at: string, project: object | undefined, profiles: object): Promise<Setting> {
  const root = join(at, 'project');
  const folder = join(root, 'a');
  await mkdir(join(root, '.git'), { recursive: true });
  await mkdir(folder);
  await mkdir(join(at, 'config'));
  if (project !== undefined) await writeFile(join(root, 'codesign-remote.config.json'), JSON.stringify(project));
  await writeFile(join(at, 'config', 'config.json'), JSON.stringify({ profiles }));
  await copyFile(fixture('pe/hello.exe'), join(folder, 'app.exe'));
  const { CODESIGN_ACCESS_KEY = '', CODESIGN_ACCESS_SECRET = '' } = server.env;
  const own = { CODESIGN_CONFIG_DIR: join(at, 'config'), CODESIGN_ACCESS_KEY, CODESIGN_ACCESS_SECRET };
  return { folder, root, run: (args, env = {}) => runCli(args, { cwd: folder, env: { ...own, ...env } }) };
}

function profileOf({ env }: SharedServer): Readonly<Record<string, unknown>> {
  return {
    environments: { production: 'https://127.0.0.1:1/nobody', alternate: env.CODESIGN_BASE_URL },
    code: env.CODESIGN_CODE,
    certificate: [env.CODESIGN_CERTIFICATE],
    caFile: env.CODESIGN_CA_FILE,
    timestampUrl: [env.CODESIGN_TIMESTAMP_URL],
  };
}

describe('sign', () => {
  it('takes signing options from the project, and the service from the profile', async () => {
    await using temporary = await temporaryFolder();
    const project = { algorithm: 'SHA384', output: 'signed/' };
    const { run, root } = await setting(temporary.path, project, { work: profileOf(server) });
    const signed = await run(['sign', '--json', '-p', 'work', '-e', 'alternate', 'app.exe']);
    expect(signed.code).toBe(0);
    expect(parseJson(signed).files[0]).toMatchObject({
      status: 'signed',
      output: join(root, 'signed', 'app.exe'),
      algorithm: 'SHA384',
      timestampAuthority: server.env.CODESIGN_TIMESTAMP_URL,
    });
    expect((await readFile(join(root, 'signed', 'app.exe'))).length).toBeGreaterThan(0);
  });

  it('gives options precedence over the environment, and both over files', async () => {
    await using temporary = await temporaryFolder();
    const project = { algorithm: 'SHA384', output: 'signed/' };
    const { run } = await setting(temporary.path, project, { default: { ...profileOf(server), algorithm: 'SHA512' } });
    const algorithmOf = async (args: readonly string[], env = {}) => {
      const { stdout, stderr } = await run(['sign', '--dry-run', '--json', ...args, 'app.exe'], env);
      expect(stderr).not.toContain('error');
      return JSON.parse(stdout).files[0].algorithm;
    };
    expect(await algorithmOf([])).toBe('SHA384');
    expect(await algorithmOf([], { CODESIGN_ALGORITHM: 'SHA256' })).toBe('SHA256');
    expect(await algorithmOf(['-a', 'SHA512'], { CODESIGN_ALGORITHM: 'SHA256' })).toBe('SHA512');
  });

  it.each([
    ['project-setting-refused', { baseUrl: 'https://evil.example' }, 'credentials go'],
    ['project-setting-refused', { proxy: 'http://evil.example' }, 'credentials go'],
    ['project-setting-refused', { caFile: 'evil.pem' }, 'trusts'],
    ['project-setting-refused', { code: '1' }, 'which certificate'],
    ['setting-unknown', { sha: 1 }, 'codesign-remote.config.json'],
    ['invalid-setting', { algorithm: 'MD5' }, 'algorithm in '],
  ])('ends with 2 and %s for a project with %j, before anything is sent', async (error, project, says) => {
    await using temporary = await temporaryFolder();
    const { run } = await setting(temporary.path, project, { default: profileOf(server) });
    const { code, stderr } = await run(['sign', '-e', 'alternate', 'app.exe']);
    expect(code).toBe(2);
    expect(stderr).toContain(`[${error}]`);
    expect(stderr).toContain(says);
  });

  it('writes nothing through a link of the project, unless the user names the folder', async () => {
    await using temporary = await temporaryFolder();
    const profiles = { default: profileOf(server) };
    const { run, root } = await setting(temporary.path, { output: 'signed/' }, profiles);
    const victim = join(temporary.path, 'home');
    await mkdir(victim);
    await writeFile(join(victim, 'app.exe'), 'mine');
    const signed = join(root, 'signed');
    const plant: readonly (readonly [string, () => Promise<void>])[] = [
      ['signed', () => symlink('../home', signed)],
      ['signed', () => symlink('a', signed)],
      ['app.exe', () => mkdir(signed).then(() => symlink('../../home/app.exe', join(signed, 'app.exe')))],
      ['app.exe', () => mkdir(signed).then(() => symlink('../../home/new.exe', join(signed, 'app.exe')))],
    ];
    for (const [link, make] of plant) {
      await make();
      const { code, stderr } = await run(['sign', '-e', 'alternate', 'app.exe']);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${link} is a link; nothing was sent`)]);
      expect(stderr).toContain('[project-output-refused]');
      expect(await readdir(victim)).toEqual(['app.exe']);
      expect(await readFile(join(victim, 'app.exe'), 'utf8')).toBe('mine');
      await rm(signed, { recursive: true });
    }
    await symlink('../home', signed);
    const { code } = await run(['sign', '-e', 'alternate', '--output', '../signed/', 'app.exe']);
    expect(code).toBe(0);
    expect((await readFile(join(victim, 'app.exe'))).length).toBeGreaterThan(4);
  });

  it('names the profile that contains a bad value', async () => {
    await using temporary = await temporaryFolder();
    const { run } = await setting(temporary.path, undefined, { work: { ...profileOf(server), concurrency: 0 } });
    const { code, stderr } = await run(['sign', 'app.exe'], { CODESIGN_PROFILE: 'work' });
    expect(code).toBe(2);
    expect(stderr).toContain('concurrency in profile work: "…" is not');
  });

  it.each([
    ['is empty', ''],
    ['is relative', '.'],
  ])("takes no repository's folder for the home folder when HOME %s", async (_name, HOME) => {
    await using temporary = await temporaryFolder();
    const { root, folder } = await setting(temporary.path, undefined, {});
    for (const place of [root, folder]) {
      const planted = join(place, '.config', 'codesign-remote');
      await mkdir(planted, { recursive: true });
      const profiles = { default: { environments: { production: 'https://evil.example' } } };
      await writeFile(join(planted, 'config.json'), JSON.stringify({ profiles }));
    }
    const env = { HOME, CODESIGN_CONFIG_DIR: '' };
    const { stdout } = await runCliProcess(['config', 'list'], { cwd: folder, env });
    expect(stdout).toContain('production');
    expect(stdout).not.toContain('evil');
  });

  it('works in a folder that has been removed', async () => {
    await using temporary = await temporaryFolder();
    const { run, folder } = await setting(temporary.path, undefined, { default: profileOf(server) });
    const program = 'cd "$1" && rmdir "$1" && shift && exec "$@"';
    await mkdir(join(temporary.path, 'gone'));
    const through = ['sh', '-c', program, 'sh', join(temporary.path, 'gone')];
    const { CODESIGN_CERTIFICATE = '' } = server.env;
    const { stdout } = await runCli(['sign', '--dry-run', '--json', join(folder, 'app.exe')], {
      through,
      env: { CODESIGN_CERTIFICATE },
    });
    expect(JSON.parse(stdout).files[0].status).toBe('planned');
    expect((await run(['config', 'profiles'])).code).toBe(0);
  });
});

describe('resume and timestamp', () => {
  it('use the profile too', async () => {
    await using temporary = await temporaryFolder();
    const { run } = await setting(temporary.path, { output: 'elsewhere/' }, { work: profileOf(server) });
    const resumed = await run(['resume', '-p', 'work', '-e', 'alternate']);
    expect(resumed.code).toBe(0);
    expect((await run(['resume', '-p', 'wrok'])).stderr).toContain('[profile-unknown]');
    const signed = ['-p', 'work', '-e', 'alternate', '--no-timestamp', '-o', 'signed.exe', 'app.exe'];
    expect((await run(['sign', ...signed])).code).toBe(0);
    const stamped = await run(['timestamp', '-p', 'work', '--json', 'signed.exe']);
    expect(stamped.code).toBe(0);
    // Where sign writes is not where files that are signed already go.
    expect(parseJson(stamped).files[0]).toMatchObject({ output: 'signed.exe' });
  });
});
