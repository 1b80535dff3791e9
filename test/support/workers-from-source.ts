/** Lets tests that run from source start worker threads: Node 20 cannot load TypeScript, so a worker is bundled first. */

import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Plugin } from 'vitest/config';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The same pattern as in build.mjs. */
const WORKER_URL = /new URL\(\s*['"](\.\.?\/(?:[^'"]*\/)?)([\w-]+\.worker)\.[jt]s['"],\s*import\.meta\.url\s*\)/g;

/** Turns `new URL('./x.worker.ts', import.meta.url)` into the URL of a bundle of that file. */
export function workersFromSource(): Plugin {
  return {
    name: 'workers-from-source',
    enforce: 'pre',
    async transform(source, id) {
      const found = [...source.matchAll(WORKER_URL)];
      if (found.length === 0) return undefined;
      let code = source;
      for (const [expression, folder = './', name = ''] of found) {
        const url = await bundle(path.resolve(path.dirname(id), folder, `${name}.ts`));
        code = code.replace(expression, () => `new URL(${JSON.stringify(url.href)})`);
      }
      return { code, map: null };
    },
  };
}

async function bundle(file: string): Promise<URL> {
  const { metafile } = await build({
    entryPoints: [file],
    outdir: path.join(root, 'node_modules/.cache/codesign-remote-workers'),
    entryNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    metafile: true,
    logLevel: 'error',
  });
  const [output = ''] = Object.keys(metafile.outputs);
  return pathToFileURL(path.join(root, output));
}
