import { appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { zipOf } from '../support/containers/make-zip.ts';
import { fixture, parseJson, snapshot } from '../support/programs/cli.ts';
import { PREFIX_VARIABLE, runWindowsCli, windowsPath, windowsVariables } from '../support/programs/windows.ts';
import { startServer } from '../support/services/server.ts';
import { folderForEach, forAll } from '../support/set-up.ts';
import { osslsigncodeVerify } from '../system/interop/verifiers.ts';
import { copyProgram, expectSigned } from './programs.ts';

const server = await forAll(startServer());
const folder = folderForEach();

/** Copies a program to each of these paths; no two copies are equal, so each takes a signature of its own. */
async function makePrograms(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await copyProgram(path);
    await appendFile(path, path.padEnd(8 * Math.ceil(path.length / 8)));
  }
}

/** Signs by these arguments and gives the files of the JSON result, with the number of requests that it took. */
async function sign(args: readonly string[], stdin?: string) {
  const before = server.operations('sign').length;
  const run = await runWindowsCli(['sign', '--no-timestamp', '--json', ...args], {
    env: windowsVariables(server.env),
    cwd: folder.path,
    ...(stdin === undefined ? {} : { stdin }),
  });
  const requests = server.operations('sign').length - before;
  return { run, requests, files: run.stdout === '' ? [] : parseJson(run).files };
}

it('signs every file that a pattern with backslashes matches in any case, and no other', async () => {
  const at = (...names: readonly string[]) => folder.at('dist', ...names);
  const matching = [at('a.exe'), at('sub', 'b.DLL'), at('sub', 'deep', 'ünï 文.exe'), at('[x]', 'c(1).exe')];
  const others = [at('d.txt'), folder.at('e.exe')];
  await makePrograms([...matching, ...others]);
  const { run, files, requests } = await sign(['dist\\**\\*.EXE', 'DIST\\sub\\*.dll']);
  expect(run.code, run.stderr).toBe(0);
  expect(files.map(({ path }) => basename(path.replaceAll('\\', '/'))).sort()).toEqual(
    matching.map((path) => basename(path)).sort(),
  );
  expect(requests).toBe(matching.length);
  await expectSigned(server.roots, ...matching);
  for (const path of others) expect((await osslsigncodeVerify('/dev/null', path)).accepted).toBe(false);
});

it('finds the rules and exclusions for files in an archive, whichever slash separates the folders', async () => {
  const program = await readFile(fixture('pe/hello.exe'));
  const names = ['a.exe', 'exempt.exe', 'excluded.exe'];
  await mkdir(folder.at('dist', 'sub'), { recursive: true });
  await writeFile(folder.at('dist', 'sub', 'app.zip'), zipOf(Object.fromEntries(names.map((name) => [name, program]))));
  const rule = { files: ['sub/app.zip!/exempt.exe'], require: 'nothing', reason: 'from another publisher' };
  await writeFile(folder.at('policy.json'), JSON.stringify({ version: 1, rules: [rule] }));
  const exclude = ['--exclude', 'dist\\sub\\app.zip!\\excluded.exe'];
  const { run, files } = await sign(['--dry-run', '--policy', 'policy.json', ...exclude, 'dist']);
  expect(files, run.stderr).toMatchObject([{ inside: [{ location: 'dist\\sub\\app.zip!/a.exe' }] }]);
});

it('signs by every spelling of a path: drive, drive-relative, root-relative, UNC, verbatim, with brackets', async () => {
  const names = ['drive.exe', 'relative.exe', 'rooted.exe', 'share.exe', 'verbatim.exe', 'brackets[1].exe'] as const;
  await makePrograms(names.map((name) => folder.at(name)));
  const [drive, relative, rooted, share, verbatim, brackets] = names.map((name) => folder.at(name));
  // Wine keeps the servers that UNC paths name below this folder of the prefix.
  const unc = join(process.env[PREFIX_VARIABLE] ?? '', 'dosdevices', 'unc', `server${process.pid}`);
  await mkdir(unc, { recursive: true });
  await symlink(folder.path, join(unc, 'share'));
  try {
    const { run, requests } = await sign([
      windowsPath(drive ?? ''),
      `Z:${basename(relative ?? '')}`,
      windowsPath(rooted ?? '').slice(2),
      `\\\\server${process.pid}\\share\\${basename(share ?? '')}`,
      `\\\\?\\${windowsPath(verbatim ?? '')}`,
      basename(brackets ?? ''),
    ]);
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(requests).toBe(names.length);
    await expectSigned(server.roots, ...names.map((name) => folder.at(name)));
  } finally {
    await rm(unc, { recursive: true });
  }
});

it('signs below a folder whose path has more than 260 characters', async () => {
  const deep = folder.at(...Array.from({ length: 5 }, () => 'd'.repeat(60)));
  const paths = ['by-name.exe', 'by-folder.exe'].map((name) => join(deep, name));
  await makePrograms(paths);
  const { run } = await sign(['--recursive', windowsPath(paths[0] ?? ''), 'd'.repeat(60)]);
  expect(run.code, run.stdout + run.stderr).toBe(0);
  await expectSigned(server.roots, ...paths);
});

it('signs the files of a list with a byte order mark and CR LF line ends, given as a file or as standard input', async () => {
  const paths = ['a.exe', 'sub/b.exe', 'ü c.exe'].map((name) => folder.at(name));
  await makePrograms(paths);
  const list = '\uFEFFa.exe\r\n\r\nsub\\b.exe\r\nü c.exe\r\n';
  await writeFile(folder.at('list.txt'), list);
  expect((await sign(['@list.txt'])).requests).toBe(paths.length);
  await expectSigned(server.roots, ...paths);
  await makePrograms(paths);
  expect((await sign(['-'], list)).run.code).toBe(0);
  await expectSigned(server.roots, ...paths);
});

it('requests one signature for two spellings of one file', async () => {
  const path = folder.at('App.exe');
  await makePrograms([path]);
  const { run, requests, files } = await sign(['App.exe', 'APP.EXE', '.\\aPP.exe', windowsPath(path)]);
  expect(run.code, run.stderr).toBe(0);
  expect([requests, files.length]).toEqual([1, 1]);
  await expectSigned(server.roots, path);
});

it('rejects two inputs whose results differ in case only, before any request', async () => {
  await makePrograms([folder.at('one', 'App.exe'), folder.at('two', 'APP.exe')]);
  const before = await snapshot(folder.path);
  const { files, requests } = await sign(['one\\App.exe', 'two\\APP.exe', '--output', 'out\\']);
  expect(requests).toBe(0);
  expect(files.map(({ error }) => error?.code)).toEqual(['output-conflict', 'output-conflict']);
  expect(await snapshot(folder.path)).toEqual(before);
});

it.each(['nul', 'out\\dot.', 'app.exe:stream'])('rejects the output %s before any request', async (output) => {
  await makePrograms([folder.at('app.exe')]);
  const before = await snapshot(folder.path);
  const { run, files, requests } = await sign(['app.exe', '--output', output]);
  expect([run.code, requests, files[0]?.error?.code]).toEqual([6, 0, 'unusable-name']);
  expect(await snapshot(folder.path)).toEqual(before);
});

it('makes the folders of an output path and signs a folder tree to it', async () => {
  const originals = ['in/a.exe', 'in/sub/b.dll'].map((name) => folder.at(name));
  await makePrograms(originals);
  const before = await Promise.all(originals.map((path) => readFile(path)));
  const { run } = await sign(['--recursive', 'in', '--output', 'new\\out\\']);
  expect(run.code, run.stdout).toBe(0);
  await expectSigned(server.roots, ...['new/out/a.exe', 'new/out/sub/b.dll'].map((name) => folder.at(name)));
  expect(await Promise.all(originals.map((path) => readFile(path)))).toEqual(before);
  expect(await readdir(folder.at('in'))).toEqual(['a.exe', 'sub']);
});
