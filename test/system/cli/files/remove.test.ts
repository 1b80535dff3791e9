/** `codesign-remote remove` as a user runs it, on files that others have signed. */

import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jar } from '../../../../src/formats/jar/index.ts';
import { pe } from '../../../../src/formats/pe/index.ts';
import {
  type CliOptions,
  fixture,
  parseJson,
  runCli,
  snapshot,
  temporaryFolder,
} from '../../../support/programs/cli.ts';
import { mainJava, runJar } from '../../../support/programs/java.ts';
import { forAll } from '../../../support/set-up.ts';
import { copyInto, makeSignedFiles } from '../../../support/signed-files/signed-files.ts';
import { unzip } from '../../../unit/formats/jar/simple-zip.ts';
import { openBytes } from '../../../unit/formats/support/sign-bytes.ts';

const files = await forAll(makeSignedFiles());

const remove = (args: readonly string[], options: CliOptions = {}) => runCli(['remove', ...args], options);

async function expectUnsigned(path: string): Promise<void> {
  const format = path.endsWith('.jar') ? jar : pe;
  expect(await (await openBytes(format, await readFile(path))).signatures()).toEqual([]);
}

describe('remove', () => {
  it('removes every signature of a program in place, which osslsigncode then calls unsigned', async () => {
    await using folder = await temporaryFolder();
    const path = await copyInto(folder.path, files.nested);
    await chmod(path, 0o750);
    const run = await remove(['nested.exe', '--json'], { cwd: folder.path });
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/^removed +nested\.exe {2}\(2 signatures, /)]);
    expect(JSON.parse(run.stdout)).toEqual({
      files: [
        {
          path: 'nested.exe',
          output: 'nested.exe',
          format: 'pe',
          status: 'removed',
          signatures: 2,
          removed: ['Signed Publisher'],
          bytes: (await stat(path)).size,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          milliseconds: expect.any(Number),
          warnings: [],
        },
      ],
      summary: { removed: 1, skipped: 0, failed: 0, notAttempted: 0 },
      warnings: [],
    });
    await expectUnsigned(path);
    const { accepted, output } = await files.osslsigncode(path);
    expect([accepted, output]).toEqual([false, expect.stringMatching(/No signature found/i)]);
    expect((await stat(path)).mode & 0o777).toBe(0o750);
    expect(Object.keys(await snapshot(folder.path))).toEqual([path]);
  });

  it('removes the signature of a JAR, which runs as before', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'unsigned.jar');
    const run = await remove([files.jar, '-o', path]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    await expectUnsigned(path);
    const { output } = await files.jarsigner(path);
    expect(output).toContain('jar is unsigned.');
    const others = async (file: string) =>
      unzip(await readFile(file)).filter(({ name }) => !/^META-INF\/(MANIFEST\.MF|[^/]*\.(SF|RSA))$/.test(name));
    expect(await others(path)).toEqual(await others(fixture('jar/plain.jar')));
    expect((await runJar(mainJava(), path)).accepted).toBe(true);
    expect(await readFile(files.jar)).not.toEqual(await readFile(path));
  });

  it('leaves an unsigned file unchanged, and succeeds', async () => {
    await using folder = await temporaryFolder();
    const path = await copyInto(folder.path, files.exe);
    await remove([path]);
    // Nothing is to be written: then nothing needs to be writable.
    await chmod(path, 0o444);
    const before = await stat(path, { bigint: true });
    const again = await remove([path, '--json']);
    expect([again.code, JSON.parse(again.stdout).files]).toEqual([
      0,
      [{ path, output: path, format: 'pe', status: 'skipped', reason: 'not-signed', warnings: [] }],
    ]);
    expect(again.stderr).toContain('(not signed)');
    expect((await stat(path, { bigint: true })).mtimeNs).toBe(before.mtimeNs);
  });

  it('continues with the other files when one fails, and keeps the tree of a folder in the output', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'in/lib'), { recursive: true });
    await copyInto(join(folder.path, 'in'), files.exe);
    await copyInto(join(folder.path, 'in/lib'), files.jar);
    await writeFile(join(folder.path, 'in/notes.txt'), 'hello');
    const before = await snapshot(join(folder.path, 'in'));
    const run = await remove(['missing.exe', '--recursive', 'in', '-o', 'out', '--json'], { cwd: folder.path });
    expect([run.code, parseJson(run).files.map(({ status, error }) => error?.code ?? status)]).toEqual([
      6,
      ['file-not-found', 'removed', 'removed'],
    ]);
    expect(parseJson(run).summary).toEqual({ removed: 2, skipped: 0, failed: 1, notAttempted: 0 });
    await expectUnsigned(join(folder.path, 'out/app.exe'));
    await expectUnsigned(join(folder.path, 'out/lib/app.jar'));
    expect(await snapshot(join(folder.path, 'in'))).toEqual(before);
  });

  it.each([
    ['a read-only file', 'read-only-file', (path: string) => chmod(path, 0o444)],
    ['what is no signed format', 'unsupported-format', (path: string) => writeFile(path, 'hello')],
    [
      'a torn program',
      'truncated-pe',
      async (path: string) => writeFile(path, (await readFile(path)).subarray(0, 300)),
    ],
  ])('rejects %s and leaves it as it is', async (_, code, spoil) => {
    await using folder = await temporaryFolder();
    const path = await copyInto(folder.path, files.exe);
    await spoil(path);
    const before = await snapshot(folder.path);
    const run = await remove([path, '--json']);
    const error = parseJson(run).files[0]?.error;
    expect([run.code, error?.code]).toEqual([6, code]);
    // The line that it is printed in names the file.
    expect(error?.message).not.toContain('app.exe');
    expect(await snapshot(folder.path)).toEqual(before);
  });

  it('prints only errors with --quiet, and escapes names', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a\u001b[31m.exe');
    await files.signExe({ commonName: 'Odd \u001b[31mPublisher\n::error::' }, path);
    const loud = await remove([path, '-o', join(folder.path, 'b.exe')]);
    expect([loud.code, loud.stdout]).toEqual([0, expect.stringContaining('Odd \\x1b[31mPublisher\\n:\\x3aerror::')]);
    expect(loud.stdout + loud.stderr).not.toContain('\u001b');
    expect(await remove([path, '-q'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await remove([path, '-q', '-v'])).toMatchObject({ code: 2 });
  });
});
