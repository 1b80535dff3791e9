// The signing service for the length of a demo: a real server with a token and a key of its own, on a free port.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScriptError } from '../scripts/run.mjs';

const program = fileURLToPath(new URL('../bin/codesign-remote-server.js', import.meta.url));
const START_TIMEOUT = 60_000;
const STOP_TIMEOUT = 15_000;

/** Starts the server with temporary data. Returns its address, its root certificate, the client's environment, and a function that stops it. */
export async function startService(signal) {
  const data = await mkdtemp(path.join(os.tmpdir(), 'codesign-remote-demo-data-'));
  const clientEnv = path.join(data, 'client.env');
  const options = ['--data', path.join(data, 'server'), '--port', '0', '--tsa', '--client-env', clientEnv];
  const server = spawn(process.execPath, [program, 'start', ...options], {
    env: environmentWithoutSettings(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // Only the demo receives Ctrl-C; it then stops the server.
    detached: process.platform !== 'win32',
  });
  const ended = new Promise((resolve) => server.once('close', resolve));
  const stop = async () => {
    server.kill('SIGTERM');
    const timer = setTimeout(() => server.kill('SIGKILL'), STOP_TIMEOUT);
    await ended;
    clearTimeout(timer);
    await rm(data, { recursive: true, force: true });
  };
  try {
    const url = await listening(server, ended, signal);
    const client = readEnvironmentLines(await readFile(clientEnv, 'utf8'));
    const environment = {
      ...environmentWithoutSettings(),
      ...client,
      CODESIGN_STATE_DIR: path.join(data, 'client-state'),
      CODESIGN_CONFIG_DIR: path.join(data, 'client-config'),
    };
    // The root of the server's own CA, for verifiers: its signatures and timestamps chain to it.
    const root = path.join(data, 'server', 'service', 'certificates', 'ca.pem');
    return { url, root, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the server's line on standard output. Throws with the server's log if the server ends or prints nothing. */
function listening(server, ended, signal) {
  let output = '';
  let log = '';
  server.stderr.setEncoding('utf8').on('data', (chunk) => {
    log += chunk;
  });
  return new Promise((resolve, reject) => {
    const fail = (what) => reject(new ScriptError(`The signing service ${what}:\n${(log + output).trim()}`));
    const timer = setTimeout(() => fail(`did not start within ${START_TIMEOUT / 1000} seconds`), START_TIMEOUT);
    server.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      const url = /^listening on (\S+)$/m.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    signal.addEventListener('abort', () => fail('was interrupted'), { once: true });
    ended.then((code) => {
      clearTimeout(timer);
      fail(`ended at once (exit code ${code})`);
    });
  });
}

/** The user's environment without the user's own settings of codesign-remote, which the demo must not use. */
function environmentWithoutSettings() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CODESIGN_')));
}

/** Reads lines NAME='value', with '\'' for a quote inside, as a POSIX shell would. */
function readEnvironmentLines(text) {
  const lines = text.matchAll(/^([A-Z_]+)='((?:[^']|'\\'')*)'$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value.replaceAll("'\\''", "'")]));
}
