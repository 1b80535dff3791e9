/** Signatures that osslsigncode makes, to hold ours against. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { IssuedCertificate } from '../signed-files/pki.ts';
import { fixture } from './cli.ts';

/** The CMS of a small program that osslsigncode signed: SHA-256, description "A name", URL "https://a.test/x". */
export function osslsigncodeSignature(leaf: IssuedCertificate, issuers: readonly IssuedCertificate[]): Uint8Array {
  const folder = mkdtempSync(path.join(tmpdir(), 'codesign-osslsigncode-'));
  const run = (...args: readonly string[]) => execFileSync('osslsigncode', args, { cwd: folder, stdio: 'pipe' });
  try {
    writeFileSync(path.join(folder, 'chain.pem'), [leaf, ...issuers].map(({ pem }) => pem).join(''));
    writeFileSync(path.join(folder, 'leaf.key'), leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const signer = ['-certs', 'chain.pem', '-key', 'leaf.key', '-h', 'sha256'];
    const text = ['-n', 'A name', '-i', 'https://a.test/x'];
    run('sign', ...signer, ...text, '-in', fixture('pe/hello.exe'), '-out', 'signed.exe');
    // As DER, releases before 2.6 put the certificate table's header before it.
    run('extract-signature', '-pem', '-in', 'signed.exe', '-out', 'signature.pem');
    const pem = readFileSync(path.join(folder, 'signature.pem'), 'utf8');
    return Buffer.from(pem.replace(/-----[A-Z\d ]+-----|\s/g, ''), 'base64');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
