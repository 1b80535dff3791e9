// Runs a program for a script: prints nothing if it succeeds, and its whole output if it fails.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** An error that ends a script. `hint`: lines that say what to do. */
export class ScriptError extends Error {
  name = 'ScriptError';

  constructor(message, hint, exitCode = 1) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** Runs a program to its end. Returns exit code, standard output, and both outputs interleaved. Does not throw if the program fails. */
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

/** Runs a program to its end. Throws a ScriptError with its output if it fails. */
export async function runOrFail(command, args, options = {}) {
  const { code, output } = await run(command, args, options);
  if (code !== 0)
    throw new ScriptError(`${[command, ...args].join(' ')} failed (exit code ${code}):\n${output.trim()}`);
  return output;
}

/** The path of a program on the PATH (or in the folders where Debian keeps those of root); undefined if it is not found. */
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

/** Runs the main function of a script: prints its errors as plain lines on standard error, and sets the exit code. */
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
