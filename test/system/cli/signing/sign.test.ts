/** `codesign-remote sign` as a user runs it, against the real server on SoftHSM, checked by osslsigncode. */

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fixture, parseJson, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { certificateVariables } from '../../../support/services/server.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { forAll } from '../../../support/set-up.ts';

const run = promisify(execFile);
const server = await forAll(useServer({ tsa: true }));

const sign = (
  args: readonly string[],
  options: { cwd?: string; env?: Readonly<Record<string, string>>; stdin?: string } = {},
) => runCli(['sign', ...args], { ...options, env: { ...server.env, ...options.env } });

/** What a check that is not ours says. Rejects when the signature is not accepted. */
async function osslsigncodeVerify(path: string): Promise<string> {
  const { stdout } = await run('osslsigncode', ['verify', '-CAfile', server.roots, '-in', path]);
  return stdout;
}

describe('sign', () => {
  it('signs in place, reports record and report, and osslsigncode accepts the result', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    const before = server.operations('sign').length;

    const { code, stdout, stderr } = await sign(['app.exe', '--json'], { cwd: folder.path });

    expect(stderr).toMatch(/^signed +app\.exe/);
    expect(code).toBe(0);
    const { files, summary } = JSON.parse(stdout);
    expect(summary).toEqual({ signed: 1, skipped: 0, failed: 0, notAttempted: 0 });
    expect(files).toEqual([
      {
        path: 'app.exe',
        output: 'app.exe',
        format: 'pe',
        status: 'signed',
        algorithm: 'SHA256',
        record: expect.any(String),
        reported: true,
        reused: false,
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        timestampAuthority: server.env.CODESIGN_TIMESTAMP_URL,
        replaced: [],
        bytes: (await stat(path)).size,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        milliseconds: expect.any(Number),
        warnings: [],
      },
    ]);
    await osslsigncodeVerify(path);
    const record = files[0].record;
    expect(server.operations('sign').slice(before)).toEqual([expect.objectContaining({ outcome: 'signed', record })]);
    expect(server.operations('report-sign').filter((line) => line.record === record)).toHaveLength(1);
    expect(Object.keys(await snapshot(folder.path))).toEqual([path]);
  });

  it('signs with SHA-1, and has the timestamp by an algorithm that authorities take', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    const stamped = ['--timestamp-algorithm', 'SHA256'];
    const { code } = await sign(['-a', 'sha1', ...stamped, fixture('pe/hello.exe'), '-o', path]);
    expect(code).toBe(0);
    expect(await osslsigncodeVerify(path)).toMatch(/Message digest algorithm *: SHA1/i);
  });

  it('signs several files of every kind to a folder and leaves the originals alone', async () => {
    await using folder = await temporaryFolder();
    const originals = await snapshot(fixture('pe'));
    const names = [
      'addon.node',
      'driver.sys',
      'library.dll',
      'program.efi',
      'pe32.exe',
      'overlay.exe',
      'size-mod-8-is-5.exe',
    ];
    const { code, stdout, stderr } = await sign([
      ...names.map((name) => fixture(`pe/${name}`)),
      '-o',
      `${folder.path}/out`,
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.match(/^signed /gm)).toHaveLength(names.length);
    for (const name of names) await osslsigncodeVerify(join(folder.path, 'out', name));
    expect(await snapshot(fixture('pe'))).toEqual(originals);
  });

  it('signs the good files although others fail, and ends with the code of what failed', async () => {
    await using folder = await temporaryFolder();
    const before = server.operations('sign').length;
    const good = join(folder.path, 'good.exe');
    await copyFile(fixture('pe/hello.exe'), good);
    const run = await sign([fixture('strangers/text.exe'), good, join(folder.path, 'missing.exe'), '--json']);
    expect(run.code).toBe(6);
    const { files, summary } = parseJson(run);
    expect(files.map(({ status, error }) => error?.code ?? status)).toEqual([
      'unsupported-format',
      'signed',
      'file-not-found',
    ]);
    expect(summary).toEqual({ signed: 1, skipped: 0, failed: 2, notAttempted: 0 });
    expect(server.operations('sign').length).toBe(before + 1);
  });

  it('spends nothing with --all-or-nothing if one file cannot be signed', async () => {
    await using folder = await temporaryFolder();
    const before = server.operations('sign').length;
    await copyFile(fixture('pe/hello.exe'), join(folder.path, 'good.exe'));
    await copyFile(fixture('pe-malformed/dos.exe'), join(folder.path, 'bad.exe'));
    const untouched = await snapshot(folder.path);
    const run = await sign(['--all-or-nothing', '--recursive', folder.path, '--json']);
    expect(run.code).toBe(6);
    expect(parseJson(run).files.map(({ error }) => error?.code)).toEqual(['not-a-pe', 'not-attempted']);
    expect(server.operations('sign').length).toBe(before);
    expect(await snapshot(folder.path)).toEqual(untouched);
  });

  it('is rejected before the first request when it might request more than --max-signatures', async () => {
    await using folder = await temporaryFolder();
    const before = server.operations('sign').length;
    const names = ['a.exe', 'b.exe'].map((name) => join(folder.path, name));
    for (const path of names) await copyFile(fixture('pe/hello.exe'), path);
    const untouched = await snapshot(folder.path);
    const run = await sign(['--max-signatures', '1', ...names, '--json']);
    expect([run.code, parseJson(run).error?.code]).toEqual([2, 'too-many-signatures']);
    expect([server.operations('sign').length, await snapshot(folder.path)]).toEqual([before, untouched]);
    const [first = ''] = names;
    expect((await sign([first], { env: { CODESIGN_MAX_SIGNATURES: '1' } })).code).toBe(0);
    expect((await sign(['--max-signatures', 'x', first])).code).toBe(2);
  });

  it('walks a folder with --recursive, checks by content and keeps the tree in the output', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'dist/plugins'), { recursive: true });
    await copyFile(fixture('pe/hello.exe'), join(folder.path, 'dist/app'));
    await copyFile(fixture('pe/library.dll'), join(folder.path, 'dist/plugins/one.plugin'));
    await writeFile(join(folder.path, 'dist/readme.exe'), 'not a program');
    const { code, stdout } = await sign(['--recursive', 'dist', '-o', 'signed'], { cwd: folder.path });
    expect(code).toBe(0);
    expect(stdout.match(/^signed /gm)).toHaveLength(2);
    await osslsigncodeVerify(join(folder.path, 'signed/app'));
    await osslsigncodeVerify(join(folder.path, 'signed/plugins/one.plugin'));
  });

  it('replaces, appends or skips the signatures that are there', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    await sign(['--no-timestamp', path]);
    const first = await readFile(path);

    expect((await sign(['--skip-signed', path])).stdout).toMatch(/^skipped /);
    expect((await sign(['--skip-any-signed', path])).stdout).toMatch(/^skipped /);
    const twice = await sign([
      '--dry-run',
      '-o',
      `${path}.folder/`,
      path,
      fixture('pe/hello.exe'),
      fixture('pe/pe32.exe'),
    ]);
    expect(twice.stdout).toMatch(/2 signatures would be requested;/);
    expect(await readFile(path)).toEqual(first);

    const appended = await sign(['--append', '-a', 'SHA384', path]);
    expect(appended.code).toBe(0);
    expect(await osslsigncodeVerify(path)).toMatch(/Number of verified signatures: 2/);

    const replaced = await sign(['--no-timestamp', '--json', path]);
    expect(JSON.parse(replaced.stdout).files[0].replaced).toHaveLength(1);
    expect(await readFile(path)).toEqual(first);
  });

  it('keeps what another publisher signed, unless the file is named or --replace is given', async () => {
    await using folder = await temporaryFolder();
    const [own, others] = [join(folder.path, 'app.exe'), join(folder.path, 'vendor.exe')];
    await copyFile(fixture('pe/hello.exe'), own);
    await copyFile(fixture('golden/sha256-rsa2048.exe'), others);
    await writeFile(join(folder.path, 'list.txt'), 'vendor.exe\n');
    const cwd = folder.path;
    const signed = await readFile(others);

    const all = await sign(['*.exe'], { cwd });
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(all.stdout).not.toContain('vendor.exe');
    expect(all.stdout).toMatch(/^2 files: 1 signed, 1 kept \(signed by others\); 1 signature used;/m);
    expect((await sign(['--dry-run', '*.exe'], { cwd })).stdout).toMatch(
      /1 kept \(signed by others\); dry run: 1 signature would be requested; nothing was sent/,
    );
    const named = await sign(['--verbose', '@list.txt'], { cwd });
    expect(named.stdout).toMatch(/^kept +vendor\.exe +\(signed by others\)\n1 file: 0 signed, 1 kept/);
    const json = parseJson(await sign(['--recursive', '.', '--exclude', 'app.exe', '--json'], { cwd }));
    expect(json.files).toMatchObject([{ path: 'vendor.exe', status: 'skipped', reason: 'signed-by-others' }]);
    expect(await readFile(others)).toEqual(signed);

    const replaced = await sign(['vendor.exe'], { cwd });
    expect(replaced.stdout).toMatch(/^ +replaced the signature of "Golden RSA 2048"$/m);
    await writeFile(others, signed);
    expect((await sign(['--replace', 'v*.exe'], { cwd })).stdout).toMatch(/^signed +vendor\.exe/);
  });

  it.each([
    ['--page-hashes', 'jar/plain.jar', 'Windows PE (Authenticode)'],
    ['--description=App', 'jar/plain.jar', 'Windows PE (Authenticode), Windows Installer (MSI), Cabinet (CAB), '],
    ['--inner-packages', 'pe/hello.exe', 'app bundles (.msixbundle, .appxbundle)'],
    ['--wsh', 'script.vbs', '.js files'],
  ])('warns once, before the first request, that %s affects no file such as %s', async (option, name, applies) => {
    await using folder = await temporaryFolder();
    const path = name === 'script.vbs' ? join(folder.path, name) : fixture(name);
    if (name === 'script.vbs') await writeFile(path, 'MsgBox 1\r\n');
    const { code, stderr } = await sign([option, '--verbose', path, '-o', join(folder.path, 'out/')]);
    expect(code).toBe(0);
    const [warning = '', ...others] = stderr.split('\n').filter((line) => line.startsWith('warning'));
    expect(warning).toContain(`${option.replace(/=.*/, '')} affects no file of this run; it applies to: ${applies}`);
    expect(warning).toMatch(/ \[option-unused\]$/);
    expect(others).toEqual([]);
    expect(stderr.indexOf('warning')).toBeLessThan(stderr.indexOf('called   sign'));
    const json = parseJson(await sign([option, '--json', '--dry-run', path]));
    expect(json).toMatchObject({ warnings: [warning.replace(/^warning +/, '')] });
  });

  it('does not warn of an option that affects one of the files, may do so, or comes from a project file', async () => {
    await using folder = await temporaryFolder();
    const cwd = folder.path;
    const exe = fixture('pe/hello.exe');
    const jar = fixture('jar/plain.jar');
    expect((await sign(['--dry-run', '--page-hashes', '--signer-name', 'APP', exe, jar])).stderr).toBe('');
    const missing = await sign(['--dry-run', '--page-hashes', jar, 'missing.exe'], { cwd });
    expect([missing.code, missing.stderr]).toEqual([6, expect.not.stringContaining('option-unused')]);
    await writeFile(join(cwd, 'codesign-remote.config.json'), '{ "description": "App" }');
    expect((await sign(['--dry-run', jar], { cwd })).stderr).toBe('');
  });

  it('writes description and web page, and the same input always gives the same bytes', async () => {
    await using folder = await temporaryFolder();
    const [a, b] = [join(folder.path, 'a.exe'), join(folder.path, 'b.exe')];
    const text = ['--no-timestamp', '--description', 'Grüße, 世界', '--url', 'https://example.com/app'];
    expect((await sign([...text, fixture('pe/hello.exe'), '-o', a])).code).toBe(0);
    expect((await sign([...text, fixture('pe/hello.exe'), '-o', b])).code).toBe(0);
    expect(await osslsigncodeVerify(a)).toContain('https://example.com/app');
    expect(await readFile(a)).toEqual(await readFile(b));
  });

  it('shows in a dry run what would be sent, and sends and writes nothing', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    const untouched = await snapshot(folder.path);
    const before = server.operations('sign').length;
    const { CODESIGN_CERTIFICATE = '' } = server.env;
    const run = await runCli(['sign', '--dry-run', '--json', path], { env: { CODESIGN_CERTIFICATE } });
    expect(run.code).toBe(0);
    const [file] = parseJson(run).files;
    expect(file).toMatchObject({ status: 'planned', digest: expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/) });
    expect(parseJson(run).summary).toMatchObject({ planned: 1 });
    const words = await runCli(['sign', '--dry-run', path], { env: { CODESIGN_CERTIFICATE } });
    expect(words.stdout).toMatch(/1 signature would be requested/);
    expect(await snapshot(folder.path)).toEqual(untouched);
    expect(server.operations('sign').length).toBe(before);
  });

  it('plans for a missing output folder, and does not create it', async () => {
    await using folder = await temporaryFolder();
    const output = join(folder.path, 'new');
    const files = [fixture('pe/hello.exe'), fixture('pe/pe32.exe')];
    expect((await sign(['--dry-run', '-o', output, ...files])).code).toBe(0);
    expect(await snapshot(folder.path)).toEqual({});
  });

  it('finishes its signatures although its output is not read any more', async () => {
    await using folder = await temporaryFolder();
    const names = ['a', 'b', 'c', 'd'].map((name) => join(folder.path, `${name}.exe`));
    for (const name of names) await copyFile(fixture('pe/hello.exe'), name);
    const line = `exec 3>&1; { "$0" "$@"; echo "exit $?" >&3; } | true`;
    const { stdout } = await runCli(['sign', ...names], { env: server.env, through: ['bash', '-c', line] });
    expect(stdout).toBe('exit 0\n');
    for (const name of names) await osslsigncodeVerify(name);
    expect(Object.keys(await snapshot(folder.path)).sort()).toEqual(names);
  });

  it('says so when the result could not be written out', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    const line = '"$0" "$@" > /dev/full';
    const { code, stderr } = await runCli(['sign', fixture('pe/hello.exe'), '-o', path], {
      env: server.env,
      through: ['bash', '-c', line],
    });
    expect([code, stderr]).toEqual([6, expect.stringContaining('[output-lost]')]);
    await osslsigncodeVerify(path);
  });

  it('keeps mode and links, and follows a link to the file it means', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await copyFile(fixture('pe/hello.exe'), path);
    await chmod(path, 0o750);
    await symlink('app.exe', join(folder.path, 'link.exe'));
    expect((await sign([join(folder.path, 'link.exe')])).code).toBe(0);
    expect((await stat(path)).mode & 0o777).toBe(0o750);
    await osslsigncodeVerify(path);
    expect(Object.keys(await snapshot(folder.path))).toEqual([path]);
  });

  it('reads a list from standard input and from a file', async () => {
    await using folder = await temporaryFolder();
    await copyFile(fixture('pe/hello.exe'), join(folder.path, 'a.exe'));
    await copyFile(fixture('pe/pe32.exe'), join(folder.path, 'b.exe'));
    await writeFile(join(folder.path, 'list.txt'), 'b.exe\r\n');
    const { code, stdout } = await sign(['-', '@list.txt'], { cwd: folder.path, stdin: 'a.exe\n' });
    // Told in the order in which they are done.
    expect([code, stdout.match(/^signed +\S+/gm)?.sort()]).toEqual([0, ['signed   a.exe', 'signed   b.exe']]);
  });

  it('does not report with --no-report', async () => {
    await using folder = await temporaryFolder();
    const before = server.operations('report-sign').length;
    const run = await sign(['--no-report', '--json', fixture('pe/hello.exe'), '-o', join(folder.path, 'x.exe')]);
    expect([run.code, parseJson(run).files[0]?.reported]).toEqual([0, false]);
    expect(server.operations('report-sign').length).toBe(before);
  });

  it('prints errors only with --quiet', async () => {
    await using folder = await temporaryFolder();
    const { code, stdout, stderr } = await sign(['-q', fixture('pe/hello.exe'), '-o', join(folder.path, 'x.exe')]);
    expect([code, stdout, stderr]).toEqual([0, '', '']);
  });

  it('signs with a key of a different size', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    const env = certificateVariables(server.data, 2048);
    expect(await sign([fixture('pe/hello.exe'), '-o', path], { env })).toMatchObject({ code: 0, stderr: '' });
    await osslsigncodeVerify(path);
  });
});
