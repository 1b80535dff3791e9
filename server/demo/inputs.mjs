// The files that the demo signs: copies of the bundled programs or of the given ones. The originals never change.
import { chmod, copyFile, mkdtemp, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScriptError } from '../scripts/run.mjs';

const BUNDLED = ['pe/hello.exe', 'jar/plain.jar'].map((name) =>
  fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url)),
);
// npm runs scripts in the folder of package.json. INIT_CWD is the folder where the user typed the command.
const typedIn = (process.env.npm_lifecycle_event === 'demo' && process.env.INIT_CWD) || process.cwd();

/** The given files as absolute paths, or the bundled programs. Throws if a file cannot be read. */
export async function chooseInputs(given) {
  if (given.length === 0) return BUNDLED;
  const files = given.map((name) => path.resolve(typedIn, name));
  for (const file of files) {
    const found = await stat(file).catch((error) => error);
    if (found.code === 'ENOENT') {
      throw new ScriptError(`There is no file ${file}.`, 'Check the name; * and ? are for the shell to expand.', 2);
    }
    if (found instanceof Error) throw new ScriptError(`${file} cannot be read (${found.code}).`, undefined, 2);
    if (!found.isFile()) throw new ScriptError(`${file} is not a file.`, 'Name the programs one by one.', 2);
  }
  return [...new Set(files)];
}

/** Copies the files into a new folder, under different names. Returns the paths of the copies. */
export async function copyInputs(files) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'codesign-remote-demo-'));
  const taken = new Set();
  const copies = [];
  for (const file of files) {
    const { name, ext } = path.parse(file);
    let copy = `${name}${ext}`;
    for (let number = 2; taken.has(copy.toLowerCase()); number++) copy = `${name}-${number}${ext}`;
    taken.add(copy.toLowerCase());
    await copyFile(file, path.join(folder, copy)).catch((error) => {
      throw new ScriptError(`${file} cannot be copied to ${folder} (${error.code}).`);
    });
    await chmod(path.join(folder, copy), 0o644);
    copies.push(path.join(folder, copy));
  }
  return { folder, copies };
}
