// Verifying a signed PE of 500 MB and a signed JAR of 240 MB, against osslsigncode and jarsigner: integrity, chain and trust, each with its root.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compete, mebibytes, runOnce, seconds, spread, table } from '../measure.mjs';
import { CLI, makeProgram } from '../setting.mjs';
import { MADE, make } from './archives.mjs';

const HEAD = ['file', 'program', 'median', 'least–most', 'of the peer', 'peak memory'];

export const title = 'Verifying: one file, warm page cache';

/** @returns the table and the numbers. */
export async function bench(setting, rounds) {
  const root = join(setting.folder, 'server', 'service', 'certificates', 'ca.pem');
  const rows = [];
  const results = {};
  for (const { name, path, peer } of [await program(setting, root), await archive(setting, root)]) {
    await runOnce({ command: [process.execPath, CLI, 'sign', '--no-timestamp', path], env: setting.env });
    const contestants = [
      { name: 'codesign-remote', command: [process.execPath, CLI, 'verify', '--roots', root, path] },
      peer,
      { name: 'openssl dgst -sha256', command: ['openssl', 'dgst', '-sha256', path] },
    ];
    const result = await compete(contestants, { rounds, memory: true });
    results[name] = result;
    for (const { name: contestant } of contestants) {
      const of = result[contestant];
      const ratio = `${(of.median / result[peer.name].median).toFixed(2)} ×`;
      rows.push([name, contestant, seconds(of.median), spread(of), ratio, mebibytes(of.peak)]);
    }
    rmSync(path);
  }
  return { text: table(HEAD, rows), results };
}

function program({ folder }, root) {
  const path = join(folder, '500.exe');
  makeProgram(path, 500_000_000);
  const command = ['osslsigncode', 'verify', '-CAfile', root, '-in', path];
  return { name: 'PE, 500 MB', path, peer: { name: 'osslsigncode', command } };
}

async function archive({ folder }, root) {
  const path = await make(folder, MADE.large);
  const store = ['-keystore', join(folder, 'trust.p12'), '-storepass', 'changeit'];
  execFileSync('keytool', ['-importcert', '-noprompt', '-alias', 'root', '-file', root, ...store], { stdio: 'pipe' });
  const command = ['jarsigner', '-verify', '-strict', ...store, path];
  return { name: `JAR, ${MADE.large.name}`, path, peer: { name: 'jarsigner', command } };
}
