// Starts the server for real use: `npm run server -- [options]`. Sets up and builds first where that is needed.
import { fileURLToPath } from 'node:url';
import { buildWhenStale } from './fresh-build.mjs';
import { asScript } from './run.mjs';
import { setUp } from './set-up.mjs';

const program = fileURLToPath(new URL('../bin/codesign-remote-server.js', import.meta.url));

await asScript(async (options) => {
  // Standard output belongs to the server: scripts wait for its one line there.
  const say = (line) => console.error(line);
  await setUp({ say });
  await buildWhenStale(say);
  // The server runs in this process, so that signals reach it and its exit code is this one's.
  process.argv = [process.execPath, program, 'start', ...options];
  await import(program);
  return process.exitCode;
});
