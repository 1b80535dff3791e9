// Bundles what the benchmarks take from the sources, and imports it: Node 20 does not read TypeScript.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** @param lines what to export, as the lines of a module in this folder. @returns these exports */
export async function fromSource(name, lines) {
  // Where the bundle finds its packages.
  const folder = join(root, 'node_modules', '.cache', 'codesign-remote-bench');
  mkdirSync(folder, { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(root, 'server', 'package.json'), 'utf8'));
  const outfile = join(folder, `${name}.mjs`);
  await build({
    ...{ stdin: { contents: lines.join('\n'), resolveDir: root }, outfile },
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20', logLevel: 'error' },
    external: Object.keys(dependencies),
  });
  return await import(pathToFileURL(outfile).href);
}

export const serverSources = () =>
  fromSource('server', [
    "export { findSoftHsm } from './server/src/keys/softhsm.ts';",
    "export { TOKEN_LABEL } from './server/src/setup/open-data.ts';",
    "export { startPostgres } from './server/test/support/postgres.ts';",
    "export { SIGN_PATH } from './src/service/messages.ts';",
  ]);

export const installerSources = () =>
  fromSource('installer', [
    "export { newStream } from './src/compound-file/write.ts';",
    "export { makeCompoundFile } from './test/unit/formats/msi/samples.ts';",
  ]);
