// The processes of the server's part: servers with each store, the bare HSM, the load. Each ends with the part.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAM = join(root, 'server', 'bin', 'codesign-remote-server.js');
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Compiles the library that takes the time of a device. @returns its path */
export function makeDevice(folder) {
  const path = join(folder, 'device.so');
  execFileSync('cc', ['-O2', '-shared', '-fPIC', '-std=gnu17', '-o', path, here('device.c'), '-ldl', '-lpthread']);
  return path;
}

/** Makes a data folder with an RSA key of each size. @returns what reaches a server on it */
export function makeData(folder, bits, database) {
  const data = join(folder, database === undefined ? 'sqlite' : 'postgres');
  const places = ['--data', data, ...(database === undefined ? [] : ['--database', database])];
  const run = (...args) => execFileSync(process.execPath, [PROGRAM, ...args, ...places], { encoding: 'utf8' });
  run('init');
  for (const each of bits) run('certificate', 'add', '--number', `rsa-${each}`, '--bits', `${each}`);
  const envFile = `${data}.env`;
  run('client', 'add', '--client-env', envFile);
  const env = Object.fromEntries(
    Array.from(readFileSync(envFile, 'utf8').matchAll(/^([A-Z_]+)='(.*)'$/gm), ([, name, value]) => [name, value]),
  );
  return {
    arguments: ['start', ...places, '--port', '0'],
    service: join(data, 'service'),
    caFile: join(data, 'service', 'tls', 'ca.pem'),
    ...{ accessKey: env.CODESIGN_ACCESS_KEY, accessSecret: env.CODESIGN_ACCESS_SECRET },
  };
}

/** Starts a server. @param log where its log goes: a file, as on a machine that keeps it */
export async function startServer({ arguments: args }, log, { library, env = {} } = {}) {
  const more = library === undefined ? [] : ['--pkcs11-library', library];
  const file = openSync(log, 'a');
  const child = spawn(process.execPath, [PROGRAM, ...args, ...more], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', file],
  });
  closeSync(file);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit');
  const port = await new Promise((resolve, reject) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      said += part;
      const found = /^listening on https:.*:(\d+)$/m.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code}: ${readFileSync(log, 'utf8')}`)));
  });
  return {
    port,
    stop: async () => {
      process.off('exit', kill);
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Signs without a server. @returns how many a second */
export async function measureBare(settings, service, env = {}) {
  const all = { ...process.env, ...env, SOFTHSM2_CONF: join(service, 'softhsm2.conf') };
  return await runPart('bare.mjs', { ...settings, pinFile: join(service, 'pin') }, all);
}

/** Asks a server for signatures. @returns what load.mjs says */
export async function measureLoad(settings) {
  return await runPart('load.mjs', settings, process.env);
}

async function runPart(name, settings, env) {
  const child = spawn(process.execPath, [here(name)], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(settings));
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return JSON.parse(said);
}
