// `npm run fuzz`: bundles command.ts for this run, and runs it.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('command.ts', import.meta.url));
const folder = await mkdtemp(path.join(os.tmpdir(), 'codesign-fuzz-command-'));
try {
  const outfile = path.join(folder, 'command.mjs');
  const url = JSON.stringify(pathToFileURL(source).href);
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'error',
    // The bundler itself finds its own program from where it is.
    external: ['keytar', 'esbuild'],
    define: { 'import.meta.url': url },
    banner: { js: `import{createRequire as _createRequire}from"node:module";const require=_createRequire(${url});` },
    plugins: [
      {
        name: 'esbuild-from-here',
        setup: (bundle) =>
          bundle.onResolve({ filter: /^esbuild$/ }, () => ({ path: import.meta.resolve('esbuild'), external: true })),
      },
    ],
  });
  await import(pathToFileURL(outfile).href);
} finally {
  await rm(folder, { recursive: true, force: true });
}
