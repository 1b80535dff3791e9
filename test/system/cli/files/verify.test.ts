/** `codesign-remote verify` as a user runs it: verdicts in words, exit codes, and the document. */

import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CliOptions, REPOSITORY, runCli } from '../../../support/programs/cli.ts';
import { folderForAll } from '../../../support/set-up.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

const GOLDEN = join(REPOSITORY, 'fixtures', 'golden');
const ROOT = join(GOLDEN, 'root.pem');
const SIGNED_EXE = join(GOLDEN, 'sha256-rsa2048.exe');
const SIGNED_JAR = join(GOLDEN, 'sha256-rsa2048.jar');
const SHA256_OF_LEAF = '606813dacfee761f39636351 26a5ae08613787dbab6bea7cabb6f5e2ba21e5a1';

const folder = folderForAll();

const verify = (args: readonly string[], options: CliOptions = {}) => runCli(['verify', ...args], options);
const verifyGolden = (...args: readonly string[]) => verify(['--roots', ROOT, ...args]);

/** A copy with one byte of its program changed. */
async function tampered(path: string, offset: number): Promise<string> {
  const bytes = await readFile(path);
  bytes[offset] = (bytes[offset] ?? 0) ^ 1;
  const copy = join(folder, `tampered-${offset}-${path.split('/').at(-1)}`);
  await writeFile(copy, bytes);
  return copy;
}

it.each([
  ['--ca-file', ROOT],
  ['--proxy', 'http://proxy.example.com:3128'],
  ['--timeout', '5'],
])('rejects %s without --check-revocation, and names --roots', async (option, value) => {
  const { code, stderr } = await verify([option, value, SIGNED_EXE]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${option} cannot be used without --check-revocation`);
  expect(stderr).toContain('use --roots.');
  expect((await verifyGolden('--check-revocation', option, value, SIGNED_EXE)).code).not.toBe(2);
});

it('ignores the variables of requests without --check-revocation', async () => {
  const env = { CODESIGN_CA_FILE: join(folder, 'missing.pem'), CODESIGN_TIMEOUT: '5', HTTPS_PROXY: 'http://proxy:1' };
  expect((await verify(['--roots', ROOT, SIGNED_EXE], { env })).code).toBe(0);
});

describe('a file signed by a user who is trusted', () => {
  it.each([SIGNED_EXE, SIGNED_JAR])('is reported in one line, with exit code 0: %#', async (path) => {
    const { code, stdout, stderr } = await verifyGolden(path);
    expect(stdout).toMatch(/^trusted +\S+: intact, signed by "Golden RSA 2048", .*trusted by root "Golden Root"\n$/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('prints no line with --quiet', async () => {
    expect(await verifyGolden('--quiet', SIGNED_EXE)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('shows its chain with --verbose, and the digest that --signer takes', async () => {
    const { stdout } = await verifyGolden('--verbose', SIGNED_EXE);
    expect(stdout).toContain('"Golden Root", valid 2020-01-01 to 2099-12-31');
    const [, sha256 = ''] = /certificate with SHA-256 (\S+)/.exec(stdout) ?? [];
    expect(await verifyGolden('--signer', sha256, SIGNED_EXE)).toMatchObject({ code: 0 });
  });

  it('is counted next to others', async () => {
    const { code, stdout } = await verifyGolden(SIGNED_EXE, SIGNED_JAR);
    expect({ code, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, last: '2 trusted' });
  });

  it('may be found in a folder, where files without a supported format are skipped', async () => {
    const dist = join(folder, 'dist');
    await mkdir(dist);
    await copyFile(SIGNED_EXE, join(dist, 'app.exe'));
    await writeFile(join(dist, 'notes.txt'), 'notes');
    const { code, stdout } = await verifyGolden('--recursive', dist);
    expect({ code, paths: stdout.match(/\S+(?=: )/g) }).toEqual({ code: 0, paths: [join(dist, 'app.exe')] });
  });
});

describe('a file that is not good', () => {
  it('is untrusted if its root is not one of the given ones; the output names the root', async () => {
    const other = join(GOLDEN, 'leaf-4096.pem');
    const { code, stdout } = await verify(['--roots', other, SIGNED_JAR]);
    expect(code).toBe(8);
    expect(stdout).toMatch(
      /^untrusted .*: issuer "Golden.*" is not among your trusted roots; intact, signed by "Golden RSA 2048", .*\n *hint: if you trust it, name its certificate file with --roots.*\n$/,
    );
    expect((await verify(['--verbose', '--roots', other, SIGNED_JAR])).stdout).toContain('[chain-incomplete]');
  });

  it('has one line with an untrusted signer if the root is another one', async () => {
    const { code, stdout } = await verifyGolden('--check-revocation', SIGNED_EXE);
    expect([code, stdout]).toEqual([8, expect.stringMatching(/^untrusted .*, its signer is not trusted\n/)]);
  });

  it('names the signer and the verdict of each of several signatures', async () => {
    const other = join(GOLDEN, 'leaf-4096.pem');
    const { stdout } = await verify(['--roots', other, join(GOLDEN, 'appended-twice.jar')]);
    const lines = stdout.split('\n').map((line) => line.trim());
    const at = lines.findIndex((line) => line.endsWith('signed by "Golden RSA 2048": intact, untrusted'));
    expect(lines[at]).toMatch(/^META-INF\/\S+\.RSA: /);
    expect(stdout).toContain('signed by "Golden RSA 4096": intact, trusted\n');
    const unchecked = await verify(['--integrity-only', join(GOLDEN, 'appended-twice.jar')]);
    expect(unchecked.stdout).toContain('signed by "Golden RSA 4096": intact, trust was not checked\n');
  });

  it("is untrusted by the system's roots, which SSL_CERT_FILE names", async () => {
    expect((await verify([SIGNED_EXE])).code).toBe(8);
    const { code, stdout } = await verify(['--roots', 'system', SIGNED_EXE, '--roots', join(GOLDEN, 'leaf-4096.pem')], {
      env: { SSL_CERT_FILE: ROOT },
    });
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('trusted by root "Golden Root"'),
    });
  });

  it('is unsigned, with exit code 8', async () => {
    const { code, stdout } = await verifyGolden(join(REPOSITORY, 'fixtures', 'pe', 'hello.exe'));
    expect({ code, stdout: stdout.split(' ')[0] }).toEqual({ code: 8, stdout: 'unsigned' });
    expect(stdout).toContain(': not signed');
  });

  it.each([
    ['of the program', SIGNED_EXE, 700, 'content-digest-differs'],
    ['of an entry', SIGNED_JAR, -1, 'zip-'],
  ])('is broken by a byte %s, and says what differs', async (_, path, offset, finding) => {
    const at = offset > 0 ? offset : (await readFile(path)).lastIndexOf('PK\u0003\u0004') + 40;
    const { code, stdout } = await verifyGolden(await tampered(path, at));
    expect({ code, verdict: stdout.split(' ')[0] }).toEqual({ code: 8, verdict: 'broken' });
    expect(stdout).toContain(`[${finding}`);
  });

  it('is broken if something was appended to it', async () => {
    const copy = join(folder, 'appended.exe');
    await copyFile(SIGNED_EXE, copy);
    await appendFile(copy, 'appended');
    const { code, stdout } = await verifyGolden(copy);
    expect({ code, verdict: stdout.split(' ')[0] }).toEqual({ code: 8, verdict: 'broken' });
    expect(stdout).toContain('[certificate-table-not-last]');
  });

  it('is an error with exit code 6 if it is missing or has no supported format, and 9 together with a bad one', async () => {
    const missing = await verifyGolden(...['a', 'b', 'c'].map((name) => join(folder, name)));
    expect({ code: missing.code, stdout: missing.stdout }).toEqual({ code: 6, stdout: '3 failed\n' });
    expect(missing.stderr).toMatch(
      /^failed {3}\S+a: .*\[file-not-found\]\n +hint: .*\nfailed {3}\S+b, \S+c: .*\[file-not-found\]\n$/,
    );
    expect((await verifyGolden(ROOT)).stderr).toContain('[unsupported-format]');
    expect((await verifyGolden(ROOT, SIGNED_EXE)).code).toBe(6);
    expect((await verifyGolden(ROOT, join(REPOSITORY, 'fixtures', 'pe', 'hello.exe'))).code).toBe(9);
  });
});

describe('requirements for a signature', () => {
  it.each([
    [['--signer', 'Golden RSA 2048'], 0],
    [['--signer', SHA256_OF_LEAF.toUpperCase()], 0],
    [['--signer', 'Golden RSA 3072'], 8],
    [['--algorithm-at-least', 'SHA-256'], 0],
    [['--algorithm-at-least', 'sha384'], 8],
    [['--require-timestamp'], 8],
  ])('%j ends with %i', async (args, code) => {
    const result = await verifyGolden(...args, SIGNED_EXE);
    expect(result.code).toBe(code);
    expect(result.stdout.split(' ')[0]).toBe(code === 0 ? 'trusted' : 'not-accepted');
  });

  it('are met if one of several signatures meets all of them', async () => {
    const appended = join(GOLDEN, 'appended-twice.exe');
    expect((await verifyGolden('--signer', 'Golden RSA 4096', appended)).code).toBe(0);
  });

  it('are not about trust with --integrity-only', async () => {
    const { code, stdout } = await verify(['--integrity-only', SIGNED_EXE]);
    expect({ code, verdict: stdout.split(' ')[0] }).toEqual({ code: 0, verdict: 'intact' });
    expect((await verify(['--integrity-only', await tampered(SIGNED_EXE, 701)])).code).toBe(8);
    expect((await verify(['--integrity-only', '--signer', SHA256_OF_LEAF, SIGNED_EXE])).code).toBe(0);
  });

  it('does not mention trust without an option for it, and lists other requirements separately', async () => {
    const ask = ['--require-timestamp', SIGNED_EXE];
    expect((await verifyGolden(...ask)).stdout).toContain(', trusted, but it does not meet the requirements');
    expect((await verify(['--integrity-only', ...ask])).stdout).not.toContain(', trusted');
    const trustOf = async (run: Promise<{ readonly stdout: string }>) => JSON.parse((await run).stdout).files[0].trust;
    expect(await trustOf(verifyGolden('--json', ...ask))).toBe('trusted');
    expect(await trustOf(verify(['--integrity-only', '--json', ...ask]))).toBe('not-checked');
  });

  it.each([
    [['--integrity-only', '--roots', ROOT], 'settings-conflict'],
    [['--integrity-only', '--signer', 'Golden RSA 2048'], 'settings-conflict'],
    [['--algorithm-at-least', 'MD5'], 'invalid-setting'],
    [['--roots', join(GOLDEN, 'missing.pem')], 'roots-unreadable'],
    [['--roots', SIGNED_EXE], 'roots-unusable'],
    [['--crl-file', ROOT], 'crl-file-unusable'],
    [['--signer', ''], 'invalid-setting'],
    // A SHA-1 thumbprint, as signtool shows it.
    [['--signer', 'ab'.repeat(20)], 'invalid-setting'],
    [['--unknown'], 'invalid-usage'],
  ])('%j is a usage error', async (args, error) => {
    const { code, stdout, stderr } = await verify([...args, SIGNED_EXE]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`[${error}]`);
  });
});

describe('page hashes', () => {
  it('of osslsigncode are compared with the program', async () => {
    const leaf = makePki().leaf();
    const at = (name: string) => join(folder, name);
    await writeFile(at('leaf.pem'), leaf.pem);
    await writeFile(at('leaf.key'), leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const how = ['-ph', '-h', 'sha256', '-certs', at('leaf.pem'), '-key', at('leaf.key')];
    const program = join(REPOSITORY, 'fixtures', 'pe', 'hello.exe');
    execFileSync('osslsigncode', ['sign', ...how, '-in', program, '-out', at('hashed.exe')], { stdio: 'pipe' });
    const { code, stdout } = await verify(['--integrity-only', '--json', at('hashed.exe')]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).files[0].signatures[0].findings).toEqual([]);
  });
});

describe('the document', () => {
  it('keeps integrity, identity and trust apart', async () => {
    const bad = await tampered(SIGNED_EXE, 702);
    const { code, stdout, stderr } = await verifyGolden('--json', SIGNED_EXE, bad, ROOT);
    expect({ code, stderr }).toEqual({ code: 9, stderr: '' });
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ summary: { trusted: 1, broken: 1, failed: 1 }, roots: ROOT });
    const [good, broken, failed] = document.files;
    expect(good).toMatchObject({
      path: SIGNED_EXE,
      format: 'pe',
      verdict: 'trusted',
      integrity: 'intact',
      trust: 'trusted',
    });
    expect(good.signatures).toEqual([
      {
        place: 'certificate table, entry 1',
        integrity: 'intact',
        trust: 'trusted',
        signer: {
          name: 'Golden RSA 2048',
          sha256: SHA256_OF_LEAF.replace(' ', ''),
          root: 'Golden Root',
          chain: expect.arrayContaining([
            { name: 'Golden Root', issuer: 'Golden Root', notBefore: '2020-01-01', notAfter: '2099-12-31' },
          ]),
        },
        algorithm: 'SHA256',
        time: null,
        timestamps: [],
        findings: [],
        nested: [],
      },
    ]);
    expect(broken).toMatchObject({ verdict: 'broken', integrity: 'broken', trust: null });
    expect(failed).toMatchObject({
      path: ROOT,
      verdict: null,
      error: { category: 'local', code: 'unsupported-format' },
    });
  });
});
