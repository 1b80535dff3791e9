/** `codesign-remote sign` with JARs, as a user runs it, against the real server on SoftHSM, checked by Java. */

import { copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type CliRun, fixture, parseJson, runCli, snapshot, temporaryFolder } from '../../../support/programs/cli.ts';
import { mainJava } from '../../../support/programs/java.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForAll, forAll } from '../../../support/set-up.ts';
import { contentsOf, repack, unzip, zip } from '../../../unit/formats/jar/simple-zip.ts';
import { readAsArchives } from '../../interop/java/readers.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
/** Copies of signed JARs, with the number of signatures that Java must find in each: one JVM reads all of them. */
const forJava: { readonly path: string; readonly signatures: number }[] = [];

const server = await forAll(useServer({ tsa: true }));
const results = folderForAll();

const sign = (args: readonly string[], cwd?: string): Promise<CliRun> =>
  runCli(['sign', ...args], { env: server.env, ...(cwd === undefined ? {} : { cwd }) });
const requests = () => server.operations('sign').length;
const plain = fixture('jar/plain.jar');

/** Keeps a copy for the last test of this file, in which Java reads it. */
async function keepForJava(path: string, signatures = 1): Promise<void> {
  const copy = join(results, `${forJava.length}.jar`);
  await copyFile(path, copy);
  forJava.push({ path: copy, signatures });
}

/** The names of the signatures in it, without extension. */
async function signaturesIn(path: string): Promise<readonly string[]> {
  const names = unzip(await readFile(path)).map(({ name }) => name);
  return names.filter((name) => /^META-INF\/[^/]*\.SF$/.test(name)).map((name) => basename(name, '.SF'));
}

describe('a JAR', () => {
  it('is signed in place, and reported as one file', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    await copyFile(plain, path);
    const before = requests();
    const run = await sign(['app.jar', '--json'], folder.path);
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(/^signed +app\.jar/)]);
    expect(parseJson(run)).toMatchObject({
      files: [
        { path: 'app.jar', output: 'app.jar', format: 'jar', status: 'signed', algorithm: 'SHA256', reported: true },
      ],
      summary: { signed: 1, skipped: 0, failed: 0, notAttempted: 0 },
    });
    expect(requests()).toBe(before + 1);
    await keepForJava(path);
    expect(Object.keys(await snapshot(folder.path))).toEqual([path]);
  });

  it('is signed to --output, and left as it was', async () => {
    await using folder = await temporaryFolder();
    const original = await readFile(plain);
    const [one, two] = [join(folder.path, 'one.jar'), join(folder.path, 'two.jar')];
    for (const path of [one, two]) expect((await sign(['--no-timestamp', plain, '-o', path])).code).toBe(0);
    expect(await readFile(plain)).toEqual(original);
    expect(await readFile(one)).toEqual(await readFile(two));
    await keepForJava(one);
  });

  it('is signed with the algorithm that is requested, in any case', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    expect((await sign(['-a', 'sha512', plain, '-o', path])).code).toBe(0);
    expect(contentsOf(await readFile(path), MANIFEST).toString()).toContain('SHA-512-Digest: ');
    await keepForJava(path);
  });

  it('is signed under the requested name', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    expect((await sign(['--signer-name', 'release 1.0', plain, '-o', path])).code).toBe(0);
    expect(await signaturesIn(path)).toEqual(['RELEASE_']);
    await keepForJava(path);
  });

  it('after a script keeps its mode, and the script', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    const script = '#!/bin/sh\nexec java -jar "$0"\n';
    await writeFile(path, Buffer.concat([Buffer.from(script), await readFile(plain)]), { mode: 0o750 });
    expect((await sign([path])).code).toBe(0);
    expect((await stat(path)).mode & 0o777).toBe(0o750);
    expect((await readFile(path, 'latin1')).startsWith(script)).toBe(true);
    await keepForJava(path);
  });
});

describe('a signed JAR', () => {
  let certificate: string;
  beforeAll(async () => {
    certificate = await server.addCertificate('jar-2', 2048, 'Second Publisher');
  });

  it('takes a second signature with --append and another certificate, and the same one again replaces its own', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    const second = ['--no-timestamp', '--code', 'jar-2', '--certificate', certificate];
    expect((await sign([plain, '-o', path])).code).toBe(0);
    const [first = ''] = await signaturesIn(path);
    const manifest = contentsOf(await readFile(path), MANIFEST);

    expect((await sign([...second, '--append', '-a', 'SHA512', path])).code).toBe(0);
    expect((await signaturesIn(path)).toSorted()).toEqual([first, 'SECOND_P'].sort());
    expect(contentsOf(await readFile(path), MANIFEST)).toEqual(manifest);
    await keepForJava(path, 2);
    const both = await readFile(path);

    const again = await sign([...second, '--append', '-a', 'SHA512', '--json', path]);
    expect(JSON.parse(again.stdout).files).toMatchObject([{ status: 'signed', replaced: ['Second Publisher'] }]);
    expect((await signaturesIn(path)).toSorted()).toEqual([first, 'SECOND_P'].sort());
    expect(unzip(await readFile(path))).toEqual(unzip(both));

    const [before, untouched] = [requests(), await readFile(path)];
    const taken = await sign([...second, '--append', '--signer-name', first, path, '--json']);
    expect([taken.code, parseJson(taken).files[0]?.error?.code]).toEqual([6, 'signer-name-taken']);
    expect([await readFile(path), requests()]).toEqual([untouched, before]);

    const replaced = await sign(['--json', path]);
    expect(JSON.parse(replaced.stdout).files[0].replaced).toHaveLength(2);
    expect(await signaturesIn(path)).toEqual([first]);
    await keepForJava(path);
  });

  it('is skipped with --skip-signed while it is intact, and signed again once a file was added', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'app.jar');
    await sign([plain, '-o', path]);
    const signed = await readFile(path);
    const before = requests();

    const skipped = await sign(['--skip-signed', '--json', path]);
    expect([skipped.code, parseJson(skipped).summary]).toEqual([
      0,
      { signed: 0, skipped: 1, failed: 0, notAttempted: 0 },
    ]);
    expect([await readFile(path), requests()]).toEqual([signed, before]);

    await writeFile(path, repack(signed, {}, [{ name: 'added.txt', contents: 'added' }]));
    const again = await sign(['--skip-signed', '--json', path]);
    expect([again.code, parseJson(again).summary]).toEqual([0, { signed: 1, skipped: 0, failed: 0, notAttempted: 0 }]);
    expect(requests()).toBe(before + 1);
    expect(contentsOf(await readFile(path), MANIFEST).toString()).toContain('Name: added.txt');
    await keepForJava(path);
  });
});

describe('what is no JAR', () => {
  it('is rejected with its actual kind, unchanged and before a request, if it is named', async () => {
    await using folder = await temporaryFolder();
    const expected: Readonly<Record<string, { looksLike?: string }>> = JSON.parse(
      await readFile(fixture('manifest.json'), 'utf8'),
    );
    const names = await readdir(fixture('strangers'));
    for (const name of names) await copyFile(fixture(`strangers/${name}`), join(folder.path, name));
    const [untouched, before] = [await snapshot(folder.path), requests()];
    const run = await sign([...names, '--json'], folder.path);
    expect(run.code).toBe(6);
    const { files, summary } = parseJson(run);
    expect(summary).toEqual({ signed: 0, skipped: 0, failed: names.length, notAttempted: 0 });
    for (const { path, format, error } of files) {
      expect([format, error?.code, error?.category], path).toEqual([null, 'unsupported-format', 'local']);
      expect(error?.message).toContain(expected[`strangers/${path}`]?.looksLike);
    }
    expect([await snapshot(folder.path), requests()]).toEqual([untouched, before]);
  });

  it('is ignored in a folder, where files with a manifest or the name of a JAR are signed', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, 'in/lib'), { recursive: true });
    const place = (from: string, to: string) => copyFile(fixture(from), join(folder.path, 'in', to));
    await place('strangers/archive.zip', 'plain.zip');
    await place('strangers/document.docx', 'document.docx');
    await place('strangers/app.apk', 'app.apk');
    await place('jar/no-manifest.jar', 'no-manifest.jar');
    await place('jar/no-manifest.jar', 'no-manifest.zip');
    await place('jar/plain.jar', 'lib/bundle.zip');
    await writeFile(join(folder.path, 'in/readme.jar'), 'not an archive');
    const before = await snapshot(join(folder.path, 'in'));
    const run = await sign(['--recursive', 'in', '-o', 'out', '--json'], folder.path);
    expect(run.code).toBe(0);
    const { files, summary } = parseJson(run);
    expect(files.map(({ path, format }) => [path, format])).toEqual([
      [join('in', 'lib', 'bundle.zip'), 'jar'],
      [join('in', 'no-manifest.jar'), 'jar'],
    ]);
    expect(summary).toEqual({ signed: 2, skipped: 0, failed: 0, notAttempted: 0 });
    expect(await snapshot(join(folder.path, 'in'))).toEqual(before);
    const made = [join(folder.path, 'out/lib/bundle.zip'), join(folder.path, 'out/no-manifest.jar')];
    expect(Object.keys(await snapshot(join(folder.path, 'out')))).toEqual(made);
    for (const path of made) await keepForJava(path);
  });
});

describe('an Android App Bundle', () => {
  const names = ['BundleConfig.pb', 'base/manifest/AndroidManifest.xml', 'base/dex/classes.dex'];

  it('is signed as a JAR', async () => {
    await using folder = await temporaryFolder();
    const paths = ['APP.AAB', 'app.aab'].map((name) => join(folder.path, name));
    for (const path of paths) await writeFile(path, zip(names.map((entry) => ({ name: entry, contents: entry }))));
    const run = await sign(['--recursive', '--json', '.'], folder.path);
    expect(parseJson(run).files.map(({ format, status }) => [format, status])).toEqual([
      ['jar', 'signed'],
      ['jar', 'signed'],
    ]);
    for (const path of paths) await keepForJava(path);
  });
});

describe('PE files and JARs', () => {
  it('are signed in one run, each as its own format, and failures are reported', async () => {
    await using folder = await temporaryFolder();
    const names = [
      'pe/hello.exe',
      'jar/plain.jar',
      'jar/web.war',
      'jar-damaged/wrong-crc.jar',
      'jar-malformed/two-manifests.jar',
    ];
    const before = requests();
    const run = await sign([...names.map((name) => fixture(name)), '-o', `${folder.path}/`, '--json']);
    expect(run.code).toBe(6);
    const { files, summary } = parseJson(run);
    expect(files.map(({ format, status, error }) => [format, error?.code ?? status])).toEqual([
      ['pe', 'signed'],
      ['jar', 'signed'],
      ['jar', 'signed'],
      ['jar', 'zip-entry-damaged'],
      ['jar', 'zip-ambiguous'],
    ]);
    expect(summary).toEqual({ signed: 3, skipped: 0, failed: 2, notAttempted: 0 });
    expect(requests()).toBe(before + 3);
    expect((await readdir(folder.path)).sort()).toEqual(['hello.exe', 'plain.jar', 'web.war']);
    await keepForJava(join(folder.path, 'plain.jar'));
    await keepForJava(join(folder.path, 'web.war'));
  });
});

describe('Java', () => {
  it('finds every file of the JARs above signed, with a chain to the root of the service', async () => {
    const paths = forJava.map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(10);
    const readings = await readAsArchives(mainJava(), paths, { root: server.roots });
    expect(readings.map(({ jar }) => jar)).toEqual(paths);
    for (const [index, { signatures }] of forJava.entries()) {
      const { entries, signers, chains, ...reading } = readings[index] ?? {};
      expect(reading).toMatchObject({ failures: [], unsigned: [], hasManifest: true });
      expect(entries).toBeGreaterThan(0);
      for (const names of signers?.values() ?? []) expect(names).toHaveLength(signatures);
      expect(new Set(chains?.values())).toEqual(new Set(['good']));
    }
  });
});
