/**
 * with-variables.cjs VARIABLES ARGUMENTS: runs node.exe with these variables, given as JSON. Wine sets APPDATA and its
 * like itself when a program starts from Linux; a program that Windows starts gets them as they are.
 */
'use strict';

const { spawnSync } = require('node:child_process');

const [variables, ...args] = process.argv.slice(2);
const env = { ...process.env, ...JSON.parse(variables) };
process.exitCode = spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status ?? 99;
