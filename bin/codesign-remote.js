#!/usr/bin/env node
// Starts dist/cli.js and nothing else; what it costs before that counts for every command.
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';

// Compiled code is kept where only this user writes: Node would put it into the temporary folder that all users share.
const caches = process.env.XDG_CACHE_HOME || process.env.LOCALAPPDATA || path.join(os.homedir(), '.cache');
module.enableCompileCache?.(path.join(caches, 'codesign-remote'));

const { main } = await import('../dist/cli.js').catch((error) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error('codesign-remote is not built yet; run: npm ci && npm run build');
  process.exit(1);
});
process.exitCode = await main(process.argv.slice(2));
