#!/usr/bin/env node
'use strict';

const { existsSync } = require('node:fs');
const path = require('node:path');

// build.mjs writes dist/cli.cjs from src/cli/main.ts.

async function start() {
  // A promise that never settles would end the process with 0.
  process.once('beforeExit', complain);
  process.exitCode = await require('../dist/cli.cjs').main(process.argv.slice(2));
  process.off('beforeExit', complain);
  // Must run before the process ends: at that point, the run has already recorded its success in the journal.
  require('node:module').flushCompileCache?.();
}

function complain() {
  process.exitCode = 1;
  console.error('error    the program ended without a result; this is a defect of it [internal]');
}

if (existsSync(path.join(__dirname, '..', 'dist', 'cli.cjs'))) {
  void start();
} else {
  console.error('codesign-remote is not built yet; run: npm ci && npm run build');
  process.exitCode = 1;
}
