// Starts the server: `npm run server -- [options]`. Sets up and builds first if needed.
//
// npm passes SIGTERM to the shell that it starts a script with, and to nothing else. Many shells end immediately and leave their
// program running, so package.json says `exec`: the server replaces the shell, receives the signal, and its exit code
// becomes npm's. On Windows, which has neither, start this file with node.
import { fileURLToPath } from 'node:url';
import { buildWhenStale } from './fresh-build.mjs';
import { endWithParent } from './parent.mjs';
import { asScript } from './run.mjs';
import { setUp } from './set-up.mjs';

const program = fileURLToPath(new URL('../bin/codesign-remote-server.js', import.meta.url));

await asScript(async (options) => {
  // Only the server writes to standard output: scripts wait for its line there.
  const say = (line) => console.error(line);
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(process.ppid);
  await setUp({ say });
  await buildWhenStale(say);
  // The server runs in this process, so that signals reach it and its exit code is this one's.
  process.argv = [process.execPath, program, 'start', ...options];
  await import(program);
  return process.exitCode;
});
