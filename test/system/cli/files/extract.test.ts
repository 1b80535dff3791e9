/** `codesign-remote extract` as a user runs it, read by OpenSSL. */

import { execFileSync } from 'node:child_process';
import { copyFile, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { runMain } from '../../../../src/cli/main.ts';
import { fixture, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { repack } from '../../../unit/formats/jar/simple-zip.ts';

const JAR = fixture('golden/appended.jar');
const PROGRAM = fixture('golden/appended.exe');
const extract = (...args: readonly string[]) => runCli(['extract', ...args]);

/** The certificates in it, as OpenSSL sees them. */
function opensslSubjects(cms: Uint8Array, form: 'DER' | 'PEM'): string {
  return execFileSync('openssl', ['pkcs7', '-inform', form, '-print_certs', '-noout'], {
    input: cms,
    encoding: 'utf8',
  });
}

function entryOf(jar: string, name: string): Buffer {
  return execFileSync('unzip', ['-p', jar, name]);
}

describe('extract', () => {
  it('copies the block of a JAR unchanged', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'jar.p7s');
    const { code, stdout, stderr } = await extract(JAR, '--index', '2', '--output', path);
    const { size } = await stat(path);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`extracted  ${path}  (signature of "Golden RSA 2048", ${size} bytes)\n`);
    expect(Buffer.compare(await readFile(path), entryOf(JAR, 'META-INF/GOLDEN_R.RSA'))).toBe(0);
    expect(opensslSubjects(await readFile(path), 'DER')).toContain('Golden RSA 2048');
  });

  it.each([
    ['1', 'Golden RSA 2048'],
    ['2', 'Golden RSA 3072'],
  ])('gives signature %s of a program, the nested one too', async (index, signer) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'program.p7s');
    expect((await extract(PROGRAM, '--index', index, '-o', path)).code).toBe(0);
    expect(opensslSubjects(await readFile(path), 'DER')).toContain(signer);
  });

  it('writes PEM to standard output, with the label PKCS7', async () => {
    const { code, stdout, stderr } = await extract('--pem', fixture('golden/sha256-rsa4096.jar'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^-----BEGIN PKCS7-----\n([\w+/=]{1,64}\n)+-----END PKCS7-----\n$/);
    expect(opensslSubjects(Buffer.from(stdout), 'PEM')).toContain('Golden RSA 4096');
  });

  it('writes complete DER to a pipe', async () => {
    const jar = fixture('golden/sha256-rsa2048.jar');
    const written = await inProcess(['extract', jar], {});
    expect(written.code).toBe(0);
    expect(Buffer.compare(written.stdout, entryOf(jar, 'META-INF/GOLDEN_R.RSA'))).toBe(0);
  });

  it('rejects DER for a terminal, but not PEM', async () => {
    const refused = await inProcess(['extract', JAR, '-q'], { isTTY: true });
    expect(refused.code).toBe(2);
    expect(refused.stdout).toHaveLength(0);
    expect(refused.stderr).toContain('[binary-to-terminal]');
    expect((await inProcess(['extract', '--pem', JAR, '-q'], { isTTY: true })).code).toBe(0);
  });

  it('uses the first signature by default, and says that there are others', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'first.p7s');
    const { code, stderr } = await extract(PROGRAM, '-o', path);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning .*contains 2 signatures; this is number 1; use --index to select another/);
    expect((await extract(PROGRAM, '-o', path, '--quiet')).stderr).toBe('');
    expect((await extract(PROGRAM, '-o', path, '--index', '1')).stderr).toBe('');
  });

  it('replaces an existing file, also through a link, and leaves no other file', async () => {
    await using folder = await temporaryFolder();
    const target = join(folder.path, 'old.p7s');
    await writeFile(target, 'x'.repeat(100_000));
    await symlink(target, join(folder.path, 'link.p7s'));
    expect((await extract(JAR, '-q', '-o', join(folder.path, 'link.p7s'))).code).toBe(0);
    expect(Buffer.compare(await readFile(target), entryOf(JAR, 'META-INF/GOLDEN_2.RSA'))).toBe(0);
    expect((await readdir(folder.path)).sort()).toEqual(['link.p7s', 'old.p7s']);
  });

  it('writes to pipes and devices without replacing them', async () => {
    expect((await extract(JAR, '-q', '-o', '/dev/null')).code).toBe(0);
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  });

  it('never writes over the signed file, whatever its name', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    await copyFile(JAR, path);
    await symlink(path, join(folder.path, 'symbolic'));
    await link(path, join(folder.path, 'hard'));
    const before = await snapshot(folder.path);
    for (const output of [path, join(folder.path, 'symbolic'), join(folder.path, 'hard')]) {
      const { code, stderr } = await extract(path, '-q', '-o', output);
      expect(code).toBe(2);
      expect(stderr).toContain('[output-is-input]');
    }
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it.each([
    ['of an unsigned file', [fixture('pe/hello.exe')], 6, 'not-signed'],
    ['of an unsigned JAR', [fixture('jar/plain.jar')], 6, 'not-signed'],
    ['of what is no signed format', [fixture('strangers/elf.exe')], 6, 'unsupported-format'],
    ['that is not there', [PROGRAM, '--index', '3'], 2, 'index-out-of-range'],
    ['without a number', [PROGRAM, '--index', '1.1'], 2, 'index-invalid'],
    ['before the first', [PROGRAM, '--index', '0'], 2, 'index-invalid'],
    ['of several files', [PROGRAM, PROGRAM], 2, 'invalid-usage'],
  ])('rejects a signature %s', async (_what, args, code, error) => {
    const run = await extract('--pem', ...args);
    expect(run.stderr).toContain(`[${error}]`);
    expect([run.code, run.stdout]).toEqual([code, '']);
  });

  it('says when the result cannot be written, and leaves nothing', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'folder'));
    const into = (...path: readonly string[]) => extract(JAR, '-q', '-o', join(folder.path, ...path));
    const toFolder = await into('folder');
    expect(toFolder.stderr).toMatch(/^error {4}--output .*folder is a folder \[output-is-folder\]/);
    expect(toFolder.code).toBe(2);
    await writeFile(join(folder.path, 'file'), '');
    const belowFile = await into('file', 'out.p7s');
    expect(belowFile.stderr).toContain('[file-system]');
    expect(belowFile.code).toBe(6);
    expect(Object.keys(await snapshot(folder.path))).toEqual([join(folder.path, 'file')]);
  });

  it.each(['damaged', 'empty'])('writes nothing for a block that is %s, and keeps the existing file', async (how) => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    const bytes = await readFile(fixture('golden/sha256-rsa2048.jar'));
    const name = 'META-INF/GOLDEN_R.RSA';
    if (how === 'empty') await writeFile(path, repack(bytes, { [name]: '' }));
    else {
      const data = bytes.indexOf(entryOf(fixture('golden/sha256-rsa2048.jar'), name));
      bytes[data] = (bytes[data] ?? 0) ^ 1;
      await writeFile(path, bytes);
    }
    await writeFile(join(folder.path, 'out.p7s'), 'of before');
    const before = await snapshot(folder.path);
    const { code, stderr, stdout } = await extract(path, '-q', '-o', join(folder.path, 'out.p7s'));
    expect([code, stdout]).toEqual([6, '']);
    expect(stderr).toContain('[nothing-to-extract]');
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it('does not change a read-only file', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'out.p7s');
    await writeFile(path, 'of before', { mode: 0o444 });
    const { code, stderr } = await extract(JAR, '-q', '-o', path);
    expect(stderr).toContain('[read-only-file]');
    expect([code, await readFile(path, 'utf8')]).toEqual([6, 'of before']);
  });

  it('creates the missing folder', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'new', 'folder', 'out.p7s');
    expect((await extract(JAR, '-q', '-o', path)).code).toBe(0);
    expect((await stat(path)).size).toBeGreaterThan(1000);
  });
});

/** Runs the command line in this process, with a standard output that says of itself what is given. */
async function inProcess(argv: readonly string[], about: { readonly isTTY?: boolean }) {
  const chunks: Buffer[] = [];
  let stderr = '';
  const stdout = Object.assign(
    sink((chunk) => chunks.push(Buffer.from(chunk))),
    about,
  );
  const exit = (code: number): never => {
    throw new Error(`ended with ${code}`);
  };
  const { stdin } = process;
  const code = await runMain(argv, {
    stdin,
    stdout,
    stderr: sink((chunk) => {
      stderr += String(chunk);
    }),
    env: {},
    clock: () => 0,
    onSignal: () => () => undefined,
    outputFault: () => undefined,
    onSuccess: () => undefined,
    exit,
  });
  return { code, stdout: Buffer.concat(chunks), stderr };
}

function sink(take: (chunk: Buffer) => void): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      take(chunk);
      done();
    },
  });
}
