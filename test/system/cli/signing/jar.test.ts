/** `codesign-remote sign` with JARs against the real server on SoftHSM, checked by Java. The rest: sessions/recorded/cases/sign.txt. */

import { copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, parseJson, runCli } from '../../../support/programs/cli.ts';
import { mainJava } from '../../../support/programs/java.ts';
import { useServer } from '../../../support/services/shared-server.ts';
import { folderForAll, folderForEach, forAll } from '../../../support/set-up.ts';
import { contentsOf, repack, unzip } from '../../../unit/formats/jar/simple-zip.ts';
import { readAsArchives } from '../../interop/java/readers.ts';

const MANIFEST = 'META-INF/MANIFEST.MF';
/** Copies of signed JARs, with the number of signatures that Java must find in each: one JVM reads all of them. */
const forJava: { readonly path: string; readonly signatures: number }[] = [];

const server = await forAll(useServer({ tsa: true }));
const results = folderForAll();
const folder = folderForEach();

const sign = (...args: readonly string[]) => runCli(['sign', ...args], { env: server.env });
const requests = () => server.operations('sign').length;
const plain = fixture('jar/plain.jar');

/** Keeps a copy for the last test of this file, in which Java reads it. */
async function keepForJava(path: string, signatures = 1): Promise<void> {
  const copy = `${results}/${forJava.length}.jar`;
  await copyFile(path, copy);
  forJava.push({ path: copy, signatures });
}

/** The names of the signatures in it, without extension. */
async function signaturesIn(path: string): Promise<readonly string[]> {
  const names = unzip(await readFile(path)).map(({ name }) => name);
  return names.filter((name) => /^META-INF\/[^/]*\.SF$/.test(name)).map((name) => basename(name, '.SF'));
}

it('a JAR after a script keeps its mode, and the script', async () => {
  const path = folder.at('app.jar');
  const script = '#!/bin/sh\nexec java -jar "$0"\n';
  await writeFile(path, Buffer.concat([Buffer.from(script), await readFile(plain)]), { mode: 0o750 });
  expect((await sign(path)).code).toBe(0);
  expect((await stat(path)).mode & 0o777).toBe(0o750);
  expect((await readFile(path, 'latin1')).startsWith(script)).toBe(true);
  await keepForJava(path);
});

it('a JAR takes a second signature with --append and another certificate, and the same one again replaces its own', async () => {
  const certificate = await server.addCertificate('jar-2', 2048, 'Second Publisher');
  const path = folder.at('app.jar');
  const second = ['--no-timestamp', '--code', 'jar-2', '--certificate', certificate, '--append', '--json', path];
  expect((await sign(plain, '-o', path)).code).toBe(0);
  const [first = ''] = await signaturesIn(path);
  const manifest = contentsOf(await readFile(path), MANIFEST);

  expect((await sign(...second, '-a', 'SHA512')).code).toBe(0);
  expect((await signaturesIn(path)).toSorted()).toEqual([first, 'SECOND_P'].sort());
  expect(contentsOf(await readFile(path), MANIFEST)).toEqual(manifest);
  await keepForJava(path, 2);
  const both = await readFile(path);

  const again = await sign(...second, '-a', 'SHA512');
  expect(parseJson(again).files).toMatchObject([{ status: 'signed', replaced: ['Second Publisher'] }]);
  expect(unzip(await readFile(path))).toEqual(unzip(both));

  const [before, untouched] = [requests(), await readFile(path)];
  const taken = await sign(...second, '--signer-name', first);
  expect([taken.code, parseJson(taken).files[0]?.error?.code]).toEqual([6, 'signer-name-taken']);
  expect([await readFile(path), requests()]).toEqual([untouched, before]);

  expect(JSON.parse((await sign('--json', path)).stdout).files[0].replaced).toHaveLength(2);
  expect(await signaturesIn(path)).toEqual([first]);
  await keepForJava(path);
});

it('a JAR is skipped with --skip-signed while it is intact, and signed again once a file was added', async () => {
  const path = folder.at('app.jar');
  await sign('--signer-name', 'release 1.0', plain, '-o', path);
  expect(await signaturesIn(path)).toEqual(['RELEASE_']);
  const signed = await readFile(path);
  const before = requests();
  expect(parseJson(await sign('--skip-signed', '--json', path)).summary).toMatchObject({ signed: 0, skipped: 1 });
  expect([await readFile(path), requests()]).toEqual([signed, before]);

  await writeFile(path, repack(signed, {}, [{ name: 'added.txt', contents: 'added' }]));
  expect(parseJson(await sign('--skip-signed', '--json', path)).summary).toMatchObject({ signed: 1, skipped: 0 });
  expect(requests()).toBe(before + 1);
  expect(contentsOf(await readFile(path), MANIFEST).toString()).toContain('Name: added.txt');
  await keepForJava(path);
});

it('Java finds every file of the JARs above signed, with a chain to the root of the service', async () => {
  const paths = forJava.map(({ path }) => path);
  const readings = await readAsArchives(mainJava(), paths, { root: server.roots });
  expect(readings.map(({ jar }) => jar)).toEqual(paths);
  expect(paths).toHaveLength(4);
  for (const [index, { signatures }] of forJava.entries()) {
    const { entries, signers, chains, ...reading } = readings[index] ?? {};
    expect(reading).toMatchObject({ failures: [], unsigned: [], hasManifest: true });
    expect(entries).toBeGreaterThan(0);
    for (const names of signers?.values() ?? []) expect(names).toHaveLength(signatures);
    expect(new Set(chains?.values())).toEqual(new Set(['good']));
  }
});
