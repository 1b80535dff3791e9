// Builds when there is no build, or one older than the source.
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrFail } from './run.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['src', 'server/src', 'build', 'build.mjs', 'package.json', 'package-lock.json', 'server/package.json'];
const RESULTS = [
  'dist/cli.cjs',
  'dist/index.js',
  'dist/types/index.d.ts',
  'server/dist/main.js',
  'server/dist/page.css',
];

/** Runs build.mjs unless every result is newer than every source. */
export async function buildWhenStale(say) {
  if (RESULTS.every((file) => existsSync(path.join(root, file)))) {
    const newestSource = Math.max(...SOURCES.flatMap(changeTimes));
    const oldestResult = Math.min(...RESULTS.flatMap(changeTimes));
    if (oldestResult >= newestSource) return;
  }
  say('Building (npm run build)');
  await runOrFail(process.execPath, ['build.mjs'], { cwd: root });
}

/** When a file was last written, or each file of a folder; a folder's own time tells of files that went. */
function changeTimes(name) {
  const start = path.join(root, name);
  const inside = statSync(start).isDirectory() ? readdirSync(start, { recursive: true }) : [];
  return ['', ...inside].map((file) => statSync(path.join(start, file)).mtimeMs);
}
