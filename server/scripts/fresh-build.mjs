// Builds if there is no build, or if it is older than the source.
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runOrFail } from './run.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const SOURCES = [
  'src',
  'server/src',
  'docs/generate',
  'build.mjs',
  'package.json',
  'package-lock.json',
  'server/package.json',
];
const RESULTS = ['dist/cli.cjs', 'dist/index.js', 'dist/types/index.d.ts', 'server/dist/main.js'];

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

/** Modification time of a file, or of a folder and each file in it. The time of a folder changes when a file is removed. */
function changeTimes(name) {
  const start = path.join(root, name);
  const inside = statSync(start).isDirectory() ? readdirSync(start, { recursive: true }) : [];
  return ['', ...inside].map((file) => statSync(path.join(start, file)).mtimeMs);
}
