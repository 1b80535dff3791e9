// The services for the length of a demo, on free ports: a real server with a key in its own token, and a timestamp authority.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ScriptError } from '../scripts/run.mjs';

const program = fileURLToPath(new URL('../bin/codesign-remote-server.js', import.meta.url));
const authority = fileURLToPath(new URL('tsa.mjs', import.meta.url));
const START_TIMEOUT = 60_000;
const STOP_TIMEOUT = 15_000;

/** Starts both with temporary data. Returns the server's address, the roots of both, the client's environment, and a function that stops them. */
export async function startServices(signal) {
  const data = await mkdtemp(path.join(os.tmpdir(), 'codesign-remote-demo-data-'));
  const clientEnv = path.join(data, 'client.env');
  const timestampRoot = path.join(data, 'timestamp-root.pem');
  const started = [
    start('signing service', [
      program,
      'start',
      '--data',
      path.join(data, 'server'),
      '--port',
      '0',
      '--client-env',
      clientEnv,
    ]),
    start('timestamp authority', [authority, '--port', '0', '--root', timestampRoot]),
  ];
  const stop = async () => {
    await Promise.all(started.map((each) => each.stop()));
    await rm(data, { recursive: true, force: true });
  };
  try {
    const [url, timestampUrl] = await Promise.all(started.map(({ address }) => address(signal)));
    const environment = {
      ...environmentWithoutSettings(),
      ...readEnvironmentLines(await readFile(clientEnv, 'utf8')),
      CODESIGN_TIMESTAMP_URL: timestampUrl,
      CODESIGN_STATE_DIR: path.join(data, 'client-state'),
      CODESIGN_CONFIG_DIR: path.join(data, 'client-config'),
    };
    const roots = [path.join(data, 'server', 'service', 'certificates', 'ca.pem'), timestampRoot];
    return { url, roots, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function start(name, args) {
  const child = spawn(process.execPath, args, {
    env: environmentWithoutSettings(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // Only the demo receives Ctrl-C; it then stops the services.
    detached: process.platform !== 'win32',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return {
    address: (signal) => addressOf(name, child, ended, signal),
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Waits for the line on standard output that ends with the address. Throws with the log if the process ends or prints nothing. */
function addressOf(name, child, ended, signal) {
  let output = '';
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    log += chunk;
  });
  return new Promise((resolve, reject) => {
    const fail = (what) => reject(new ScriptError(`The ${name} ${what}:\n${(log + output).trim()}`));
    const timer = setTimeout(() => fail(`did not start within ${START_TIMEOUT / 1000} seconds`), START_TIMEOUT);
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
      const url = /^(?:listening on|timestamps at) (\S+)$/m.exec(output)?.[1];
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
