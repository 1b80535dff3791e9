// Writes the manual page and the JSON Schemas of the settings files to dist, and the schemas to schema/ as well.
// The schemas need both: the installed path node_modules/codesign-remote/schema/… is a promise to users, and npm packs a folder
// only under its own path. A script of `npm pack` cannot copy it, because .npmrc forbids scripts. Git ignores schema/.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

/** Returns the paths of the files in dist, relative to `root`. */
export async function writeDocuments(root) {
  // The table of commands imports each command only when it runs, so none of them is needed here.
  const bundle = {
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external: ['./commands/*', './completion/*'],
  };
  const { outputFiles } = await build({ ...bundle, absWorkingDir: root, entryPoints: ['docs/generate/documents.ts'] });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  const { documents } = await import(`data:text/javascript;base64,${code}`);
  const texts = documents(await readFile(path.join(root, 'docs/output.md'), 'utf8'));
  for (const [name, text] of Object.entries(texts)) {
    const file = path.join(root, 'dist', name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await cp(path.join(root, 'dist/schema'), path.join(root, 'schema'), { recursive: true });
  return Object.keys(texts).map((name) => `dist/${name}`);
}
