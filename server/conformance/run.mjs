// `npm run conformance`: bundles command.ts for this run, and runs it.

import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const folder = await mkdtemp(path.join(os.tmpdir(), 'codesign-conformance-'));
try {
  const outfile = path.join(folder, 'command.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('command/command.ts', import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'error',
  });
  await import(pathToFileURL(outfile).href);
} finally {
  await rm(folder, { recursive: true, force: true });
}
