// Starts the stand-in for the signing service, so that a batch measures this program and not an HSM, and makes programs for it to sign.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('stand-in-server.mjs', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../fixtures/pe/hello.exe', import.meta.url));
export const KEYS = ['rsa-2048', 'rsa-3072'];

/** `env` gives a run its service with a key and a wait in milliseconds for each answer; `close` ends the process. */
export async function startStandIn(parent) {
  const folder = join(parent, 'stand-in');
  mkdirSync(folder);
  const inFolder = (name) => join(folder, name);
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  makeCertificate(inFolder('tls'), '127.0.0.1', ec, 'subjectAltName=IP:127.0.0.1');
  for (const key of KEYS) {
    makeCertificate(inFolder(key), `Bench ${key}`, ['-newkey', key.replace('-', ':')], 'extendedKeyUsage=codeSigning');
  }
  const files = [inFolder('tls.key'), inFolder('tls.pem'), ...KEYS.map((key) => inFolder(`${key}.key`))];
  const child = spawn(process.execPath, [SERVER, ...files], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text) => resolve(/\d+/.exec(text)[0]));
    child.once('close', (code) => reject(new Error(`the stand-in ended with ${code}`)));
  });
  return {
    local: (key) => ({ key: inFolder(`${key}.key`), certificate: inFolder(`${key}.pem`) }),
    env: (key, latency) => ({
      CODESIGN_BASE_URL: `https://127.0.0.1:${port}/${key}/${latency}`,
      CODESIGN_CA_FILE: inFolder('tls.pem'),
      CODESIGN_ACCESS_KEY: 'bench',
      CODESIGN_ACCESS_SECRET: 'bench-secret',
      CODESIGN_CODE: '1',
      CODESIGN_CERTIFICATE: inFolder(`${key}.pem`),
      CODESIGN_STATE_DIR: inFolder(`state-${key}`),
    }),
    async close() {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

function makeCertificate(path, name, key, extension) {
  const request = ['req', '-x509', '-nodes', '-days', '60', '-subj', `/CN=${name}`, '-addext', extension];
  execFileSync('openssl', [...request, ...key, '-keyout', `${path}.key`, '-out', `${path}.pem`], { stdio: 'pipe' });
}

/** Makes the folder again with so many programs, each unlike the others. */
export function makePrograms(folder, files, bytes) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const start = readFileSync(PROGRAM);
  const rest = randomBytes(Math.max(16, bytes - start.length));
  for (let index = 0; index < files; index++) {
    rest.writeUInt32LE(index, 0);
    writeFileSync(join(folder, `${String(index).padStart(6, '0')}.exe`), Buffer.concat([start, rest]));
  }
}
