// What every benchmark stands on: the real server on SoftHSM, a local key for the peers, programs of any size.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, copyFileSync, openSync, readFileSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const inRoot = (...parts) => join(root, ...parts);
export const CLI = inRoot('bin', 'codesign-remote.js');

/** Makes the setting; `close` ends the server and removes everything. */
export async function createSetting() {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-bench-'));
  const server = await startServer(folder);
  const local = makeLocalKey(folder);
  return {
    folder,
    env: { ...server.env, CODESIGN_STATE_DIR: join(folder, 'state') },
    local,
    async close() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

async function startServer(folder) {
  const envFile = join(folder, 'client.env');
  const program = inRoot('server', 'bin', 'codesign-remote-server.js');
  const args = [
    'start',
    '--data',
    join(folder, 'server'),
    '--port',
    '0',
    '--client-env',
    envFile,
    '--log-level',
    'warn',
  ];
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text) => text.includes('listening on') && resolve());
    child.once('close', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const lines = readFileSync(envFile, 'utf8').matchAll(/^([A-Z_]+)='(.*)'$/gm);
  return {
    env: Object.fromEntries(Array.from(lines, ([, name, value]) => [name, value])),
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** A key on the disk with a certificate, as the peers sign with: RSA-3072, like the server's first. */
function makeLocalKey(folder) {
  const [key, certificate] = [join(folder, 'local.key'), join(folder, 'local.pem')];
  const subject = ['-subj', '/CN=Local Benchmark Key', '-addext', 'extendedKeyUsage=codeSigning'];
  const request = ['req', '-x509', '-newkey', 'rsa:3072', '-nodes', '-days', '30', ...subject];
  execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'pipe' });
  const [keystore, password, alias] = [join(folder, 'local.p12'), 'changeit', 'local'];
  const bundle = ['pkcs12', '-export', '-name', alias, '-passout', `pass:${password}`, '-out', keystore];
  execFileSync('openssl', [...bundle, '-inkey', key, '-in', certificate], { stdio: 'pipe' });
  return { key, certificate, keystore, password, alias };
}

/** The bundled program with random bytes behind it, as an installer has, up to `bytes` in all. */
export function makeProgram(path, bytes) {
  copyFileSync(inRoot('fixtures', 'pe', 'hello.exe'), path);
  const file = openSync(path, 'a');
  const chunk = randomBytes(1024 * 1024);
  for (let left = bytes - readFileSync(inRoot('fixtures', 'pe', 'hello.exe')).length; left > 0; left -= chunk.length) {
    writeSync(file, chunk, 0, Math.min(left, chunk.length));
  }
  closeSync(file);
}
