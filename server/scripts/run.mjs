// Runs a program for one of the scripts here: quiet when it goes well, with all it said when it does not.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** What keeps a script from going on; `hint` says what to do, line by line. */
export class ScriptError extends Error {
  name = 'ScriptError';

  constructor(message, hint, exitCode = 1) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** Runs to the end and gives exit code, standard output, and both channels as they came; a failing program is no error. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
    child.once('error', (error) => resolve({ code: 127, stdout, output: error.message }));
    child.once('close', (code, signal) => {
      resolve({ code: code ?? 128, stdout, output: signal ? `${output}\nended by ${signal}` : output });
    });
  });
}

/** Runs to the end; a program that fails becomes a ScriptError with what it said. */
export async function runOrFail(command, args, options = {}) {
  const { code, output } = await run(command, args, options);
  if (code !== 0)
    throw new ScriptError(`${[command, ...args].join(' ')} failed (exit code ${code}):\n${output.trim()}`);
  return output;
}

/** Where a program lies on the PATH (or in the folders where Debian keeps root's); undefined when nowhere. */
export function onPath(name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The main function of a script: its errors become plain lines on standard error, and its exit code. */
export async function asScript(main) {
  try {
    process.exitCode = (await main(process.argv.slice(2))) ?? 0;
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    console.error(error.message);
    if (error.hint) console.error(error.hint);
    process.exitCode = error.exitCode;
  }
}
