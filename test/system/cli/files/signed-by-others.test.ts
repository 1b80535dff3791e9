/** Signatures of osslsigncode and jarsigner, taken out of files and put into them again, with names that are out to do harm. */

import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { fixture, runCli } from '../../../support/programs/cli.ts';
import { mainJava, runJar } from '../../../support/programs/java.ts';
import { folderForEach, forAll } from '../../../support/set-up.ts';
import { makeSignedFiles } from '../../../support/signed-files/signed-files.ts';
import { unzip, zip } from '../../../unit/formats/jar/simple-zip.ts';

const files = await forAll(makeSignedFiles());
const folder = folderForEach();

it('a JAR loses its signature, runs as before, and gets it again next to its signature file', async () => {
  const path = folder.at('app.jar');
  expect(await runCli(['remove', files.jar, '-o', path])).toMatchObject({ code: 0, stderr: '' });
  expect((await files.jarsigner(path)).output).toContain('jar is unsigned.');
  const others = async (file: string) =>
    unzip(await readFile(file)).filter(({ name }) => !/^META-INF\/(MANIFEST\.MF|[^/]*\.(SF|RSA))$/.test(name));
  expect(await others(path)).toEqual(await others(fixture('jar/plain.jar')));
  expect((await runJar(mainJava(), path)).accepted).toBe(true);

  const { stdout } = await runCli(['extract', '--pem', files.jar]);
  await writeFile(path, zip(unzip(await readFile(files.jar)).filter(({ name }) => !name.endsWith('.RSA'))));
  expect(await runCli(['attach', path, '-'], { stdin: stdout })).toMatchObject({ code: 0, stderr: '' });
  expect(await files.jarsigner(path)).toMatchObject({ accepted: true });
});

it('names of signers are escaped', async () => {
  const path = folder.at('a\u001b[31m.exe');
  await files.signExe({ commonName: 'Odd \u001b[31mPublisher\n::error::' }, path);
  const { stdout } = await runCli(['extract', '--pem', files.exe]);
  for (const [args, stdin] of [
    [['attach', path, '-'], stdout],
    [['remove', path], ''],
  ] as const) {
    const run = await runCli([...args, '-o', folder.at('b.exe')], { stdin });
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('Odd \\x1b[31mPublisher\\n:\\x3aerror::')]);
    expect(run.stdout + run.stderr).not.toContain('\u001b');
  }
});
