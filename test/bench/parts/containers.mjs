// Installer files of 100 MB and 500 scripts in one run: ours with the service, the flush and the re-check, against osslsigncode with a key on the disk.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeInstaller } from '../make-installer.mjs';
import { compete, mebibytes, seconds, spread, table } from '../measure.mjs';
import { CLI } from '../setting.mjs';
import { fresh, oneByOne } from './batch.mjs';

const BYTES = 100_000_000;
const SCRIPTS = 500;
const HEAD = ['work', 'program', 'median', 'least–most', 'of osslsigncode', 'peak memory'];

export const title = 'MSI of 100 MB, and 500 PowerShell scripts';

/** @returns the table and the numbers. */
export async function bench(setting, rounds) {
  const results = {};
  for (const version of [3, 4]) results[`MSI, version ${version}`] = await installer(setting, rounds, version);
  results[`${SCRIPTS} scripts`] = await scripts(setting, rounds);
  const rows = Object.entries(results).flatMap(([work, of]) =>
    Object.entries(of).map(([name, result]) => {
      const ratio = `${(result.median / of.osslsigncode.median).toFixed(2)} ×`;
      return [work, name, seconds(result.median), spread(result), ratio, mebibytes(result.peak)];
    }),
  );
  return { text: table(HEAD, rows), results };
}

async function installer({ folder, env, local }, rounds, version) {
  const [input, output] = [join(folder, 'large.msi'), join(folder, 'signed.msi')];
  makeInstaller(input, BYTES, version);
  const peer = ['osslsigncode', 'sign', '-add-msi-dse', '-certs', local.certificate, '-key', local.key, '-h', 'sha256'];
  const contestants = [
    { name: 'codesign-remote', command: [process.execPath, CLI, 'sign', input, '-o', output], env },
    { name: 'osslsigncode', command: [...peer, '-in', input, '-out', output] },
    { name: 'openssl dgst -sha256', command: ['openssl', 'dgst', '-sha256', input] },
    { name: 'cp', command: ['cp', input, output] },
  ];
  const before = () => {
    rmSync(output, { force: true });
    execFileSync('sync');
  };
  const result = await compete(contestants, { rounds, memory: true, before });
  rmSync(input);
  return result;
}

async function scripts({ folder, env, local }, rounds) {
  const input = join(folder, 'scripts');
  mkdirSync(input);
  for (let index = 0; index < SCRIPTS; index++) {
    writeFileSync(join(input, `${index}.ps1`), `Write-Output ${index}\r\n`.repeat(200));
  }
  const contestants = [{ name: 'codesign-remote' }, { name: 'osslsigncode' }];
  const before = ({ name }) =>
    name === 'codesign-remote' ? fresh(folder, input, env) : oneByOne(folder, input, local);
  return compete(contestants, { rounds, before });
}
