/** `codesign-remote inspect` as a user runs it, on files that other programs signed and timestamped too. */

import { execFile, execFileSync } from 'node:child_process';
import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixture, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { startTimestampAuthority, type TimestampAuthority } from '../../../support/services/timestamp-authority.ts';
import { makePki } from '../../../support/signed-files/pki.ts';

/** Not synchronous: the timestamp authority runs in this process. */
const execute = promisify(execFile);
const inspect = (...args: readonly string[]) => runCli(['inspect', ...args]);

describe('inspect', () => {
  it("shows a JAR's signatures with their numbers, signers, certificates and attributes", async () => {
    const { code, stdout, stderr } = await inspect(fixture('golden/appended.jar'));
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Signature 1: META-INF\/GOLDEN_2\.RSA\n {2}signer +Golden RSA 3072\n {2}intact +yes$/m);
    expect(stdout).toMatch(/^Signature 2: META-INF\/GOLDEN_R\.RSA\n {2}signer +Golden RSA 2048$/m);
    expect(stdout).toMatch(/^ {4}- Golden RSA 2048$/m);
    expect(stdout).toMatch(/^ {6}- Golden Code Signing CA$/m);
    expect(stdout).toMatch(/^ {4}messageDigest\n {6}[\da-f]{64}$/m);
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('/'))).toEqual([]);
  });

  it('finds a file whose name has another Unicode form', async () => {
    await using folder = await temporaryFolder();
    await copyFile(fixture('golden/appended.jar'), join(folder.path, 'für.jar'.normalize('NFD')));
    expect(await inspect(join(folder.path, 'für.jar'.normalize('NFC')))).toMatchObject({ code: 0, stderr: '' });
  });

  it("shows a program's nested signatures, and says in what they are nested", async () => {
    const { code, stdout } = await inspect(fixture('golden/appended-twice.exe'));
    expect(code).toBe(0);
    expect(stdout.match(/^Signature .*/gm)).toEqual([
      expect.stringMatching(/^Signature 1: /),
      expect.stringMatching(/^Signature 2, nested in signature 1: /),
      expect.stringMatching(/^Signature 3, nested in signature 1: /),
    ]);
  });

  it('prints all of it as one JSON document', async () => {
    const { code, stdout, stderr } = await inspect('--json', fixture('golden/described.exe'));
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const document = JSON.parse(stdout);
    expect(document).toMatchObject({ path: fixture('golden/described.exe'), format: 'pe', findings: [] });
    const [signature] = document.signatures;
    expect(signature).toMatchObject({ number: 1, intact: true, algorithm: 'SHA256', timestamps: [], nested: [] });
    expect(signature.certificates[0]).toMatchObject({ name: 'Golden RSA 2048', issuerIndex: 1, isAuthority: false });
    expect(signature.details).toContainEqual(expect.objectContaining({ name: 'description' }));
  });

  it('reports that an unsigned file has no signature, which is not a failure', async () => {
    const { code, stdout } = await inspect(fixture('pe/hello.exe'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^The file contains no signature\.$/m);
    const json = await inspect('--json', fixture('jar/plain.jar'));
    expect(JSON.parse(json.stdout).signatures).toEqual([]);
  });

  it('shows a file that was changed after signing as not intact', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    execFileSync('cp', [fixture('golden/sha256-rsa2048.jar'), path]);
    execFileSync('zip', ['-q', path, 'more.txt'], { cwd: await folderWith(folder.path, 'more.txt') });
    const { code, stdout } = await inspect(path);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}(broken|note|untrusted): .*$/m);
    expect(stdout).toMatch(/more\.txt/);
  });

  it('reads a file that it may not write, and leaves everything as it was', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.exe');
    await copyFile(fixture('golden/sha256-rsa2048.exe'), path);
    await chmod(path, 0o444);
    const before = await snapshot(folder.path);
    expect((await inspect(path)).code).toBe(0);
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it.each([
    ['strangers/text.exe', 'unsupported-format'],
    ['missing.exe', 'file-not-found'],
    ['pe', 'not-a-file'],
  ])('ends with 6 for %s, and says so in JSON too', async (name, code) => {
    const run = await inspect('--json', fixture(name));
    expect(run.code).toBe(6);
    expect(JSON.parse(run.stdout).error).toMatchObject({ code, category: 'local' });
    expect(run.stderr).toContain(`[${code}]`);
  });

  it('accepts one file, and either --json or --certificates', async () => {
    const path = fixture('golden/sha256-rsa2048.exe');
    expect((await inspect()).code).toBe(2);
    expect((await inspect(path, path)).code).toBe(2);
    expect((await inspect(path, '--json', '--certificates')).code).toBe(2);
  });

  it('is quiet if requested', async () => {
    const { code, stdout, stderr } = await inspect('-q', fixture('golden/sha256-rsa2048.jar'));
    expect([code, stdout, stderr]).toEqual([0, '', '']);
  });
});

describe('inspect --certificates', () => {
  it.each(['golden/appended.exe', 'golden/appended.jar'])(
    'writes those of %s once, as OpenSSL reads them',
    async (name) => {
      const { code, stdout } = await inspect('--certificates', fixture(name));
      expect(code).toBe(0);
      const blocks =
        stdout.match(/subject=.*\nissuer=.*\n-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
      const subjects = blocks.map((block) =>
        execFileSync('openssl', ['x509', '-noout', '-subject', '-nameopt', 'multiline'], {
          input: block,
          encoding: 'utf8',
        }),
      );
      const names = subjects.map((subject) => /= (.*)$/m.exec(subject)?.[1]);
      expect(names).toHaveLength(3);
      expect([names[0], names[2]].sort()).toEqual(['Golden RSA 2048', 'Golden RSA 3072']);
      expect(names[1]).toBe('Golden Code Signing CA');
    },
  );

  it('warns if there is no certificate', async () => {
    const { code, stdout, stderr } = await inspect('--certificates', fixture('pe/hello.exe'));
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^warning .*contains no certificate/);
  });
});

describe('what osslsigncode signed', () => {
  let authority: TimestampAuthority;
  beforeAll(async () => {
    authority = await startTimestampAuthority();
  });
  afterAll(() => authority.stop());

  it('is shown with its timestamp, description and page', async () => {
    await using folder = await temporaryFolder();
    const { intermediate, leaf } = makePki();
    const signer = leaf();
    const path = join(folder.path, 'signed.exe');
    await writeFile(join(folder.path, 'chain.pem'), signer.pem + intermediate.pem);
    await writeFile(join(folder.path, 'leaf.key'), signer.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await execute('osslsigncode', [
      'sign',
      ...['-certs', join(folder.path, 'chain.pem'), '-key', join(folder.path, 'leaf.key'), '-h', 'sha256'],
      ...['-n', 'A name', '-i', 'https://a.test/x', '-ts', authority.url],
      ...['-in', fixture('pe/hello.exe'), '-out', path],
    ]);

    const { code, stdout } = await inspect(path);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}signer +Test Publisher\n {2}intact +yes$/m);
    expect(stdout).toContain('A name');
    expect(stdout).toContain('https://a.test/x');
    expect(stdout).toMatch(/^ {2}Timestamp\n {4}kind +RFC 3161\n {4}time +20\d\d-.* UTC$/m);

    const document = JSON.parse((await inspect('--json', path)).stdout);
    const [timestamp] = document.signatures[0].timestamps;
    expect(timestamp).toMatchObject({ kind: 'rfc3161', intact: true, policy: { oid: authority.policy, name: null } });
    expect(Math.abs(Date.parse(timestamp.time) - Date.now())).toBeLessThan(10 * 60_000);
    expect(timestamp.certificate).toBe(timestamp.certificates[0].sha256);
    expect(document.signatures[0].signers[0].unsignedAttributes[0].type.name).toBe('RFC 3161 timestamp');
  });
});

async function folderWith(folder: string, name: string): Promise<string> {
  await writeFile(join(folder, name), 'more');
  return folder;
}
