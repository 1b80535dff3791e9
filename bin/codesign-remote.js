#!/usr/bin/env node
// Starts dist/cli.cjs; what it costs before that counts for every command. It is CommonJS (package.json beside it says so),
// which Node starts 10 ms sooner. The version alone, which build scripts ask for most, is told without loading anything.
'use strict';

const [, , first, ...others] = process.argv;
if (first === '--version' && others.length === 0) {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  void start();
}

async function start() {
  const isHelp = process.argv.includes('--help') || process.argv.includes('-h');
  if (!isHelp) setFlags(require('node:v8'));
  const code = isHelp || !/^[a-z]+$/.test(first ?? '-') ? undefined : require('./code-cache.js').openCodeCache(first);
  const load = require('./load.js').loaderWith(code);
  process.exitCode = await commandLine(load).main(process.argv.slice(2));
  // A word that is no command is none to keep anything for.
  if (process.exitCode !== 2) code?.save();
}

function commandLine(load) {
  try {
    return load('cli.cjs');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    console.error('codesign-remote is not built yet; run: npm ci && npm run build');
    process.exit(1);
  }
}

function setFlags(v8) {
  // Code that has not run for a while would be forgotten, and be missing in what is kept for the next run.
  v8.setFlagsFromString('--no-flush-bytecode');
  // Most of what a large archive needs is looked at once. Left alone, V8 would keep three times as much before it cleans
  // up; told so, it is nearly as fast, and an archive of 100,000 entries takes 180 MiB instead of 290.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  v8.setFlagsFromString('--heap-growing-percent=30');
  // Entries of archives are inflated into one buffer each: taken out of larger pieces they cost a tenth less time.
  Buffer.poolSize = 256 * 1024;
}
