// Starts the stand-in for the signing service, so that the client is measured and not an HSM, and makes programs for it to sign.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('stand-in-server.mjs', import.meta.url));
const PROGRAM = readFileSync(new URL('../../fixtures/pe/hello.exe', import.meta.url));

/** Its key and certificate serve other programs too. `env` gives a run its service, with a wait in milliseconds for each answer. */
export async function startStandIn(folder) {
  const [key, certificate] = [join(folder, 'signer.key'), join(folder, 'signer.pem')];
  const subject = ['-subj', '/CN=Benchmark', '-addext', 'extendedKeyUsage=codeSigning'];
  const request = ['req', '-x509', '-newkey', 'rsa:3072', '-nodes', '-days', '60', ...subject];
  execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'pipe' });
  const child = spawn(process.execPath, [SERVER, key], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text) => resolve(/\d+/.exec(text)[0]));
    child.once('close', (code) => reject(new Error(`the stand-in ended with ${code}`)));
  });
  return {
    key,
    certificate,
    env: (wait = 0) => ({
      CODESIGN_BASE_URL: `http://127.0.0.1:${port}/${wait}`,
      CODESIGN_ACCESS_KEY: 'bench',
      CODESIGN_ACCESS_SECRET: 'bench-secret',
      CODESIGN_CODE: '1',
      CODESIGN_CERTIFICATE: certificate,
    }),
    async close() {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

/** Makes a folder with so many programs of 12 KB, each unlike the others. @returns their paths. */
export function makePrograms(folder, files) {
  mkdirSync(folder, { recursive: true });
  const rest = randomBytes(12_000 - PROGRAM.length);
  return Array.from({ length: files }, (_, index) => {
    rest.writeUInt32LE(index, 0);
    const path = join(folder, `${String(index).padStart(3, '0')}.exe`);
    writeFileSync(path, Buffer.concat([PROGRAM, rest]));
    return path;
  });
}
