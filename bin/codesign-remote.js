#!/usr/bin/env node
// Starts dist/cli.js; what it costs before that counts for every command. It is CommonJS (package.json beside it says so),
// which Node starts 10 ms sooner. The version alone, which build scripts ask for most, is told without loading anything.
'use strict';

const [, , first, ...others] = process.argv;
if (first === '--version' && others.length === 0) {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  void start();
}

async function start() {
  const module = require('node:module');
  const os = require('node:os');
  const path = require('node:path');
  // Compiled code is kept where only this user writes: Node would put it into the temporary folder that all users share.
  try {
    const caches = process.env.XDG_CACHE_HOME || process.env.LOCALAPPDATA || path.join(os.homedir(), '.cache');
    module.enableCompileCache?.(path.join(caches, 'codesign-remote'));
  } catch {
    // A user without an entry and without HOME, as containers have: it runs as well without a cache.
  }
  if (!process.argv.includes('--help') && !process.argv.includes('-h')) setFlags(require('node:v8'));

  const { main } = await load().catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') throw error;
    console.error('codesign-remote is not built yet; run: npm ci && npm run build');
    process.exit(1);
  });
  process.exitCode = await main(process.argv.slice(2));
}

/** Where an ES module can be required (Node 22.12 warns of it), 15 ms sooner: it is read without what reads files beside other work. */
async function load() {
  const isRequired = process.features.require_module && !process.version.startsWith('v22.12.');
  return isRequired ? require('../dist/cli.js') : await import('../dist/cli.js');
}

function setFlags(v8) {
  // Most of what a large archive needs is looked at once. Left alone, V8 would keep three times as much before it cleans
  // up; told so, it is nearly as fast, and an archive of 100,000 entries takes 180 MiB instead of 290.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  v8.setFlagsFromString('--heap-growing-percent=30');
  // Entries of archives are inflated into one buffer each: taken out of larger pieces they cost a tenth less time.
  Buffer.poolSize = 256 * 1024;
}
