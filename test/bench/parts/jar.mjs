// Signing JARs of few, many and large entries: ours with the service, the flush and the re-check, against jarsigner with a key on the disk.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compete, mebibytes, runOnce, seconds, spread, table } from '../measure.mjs';
import { CLI } from '../setting.mjs';
import { closureCompiler, MADE, make } from './archives.mjs';

const INFLATE_ALL = fileURLToPath(new URL('../inflate-all.mjs', import.meta.url));
const HEAD = ['archive', 'program', 'median', 'least–most', 'of jarsigner', 'peak memory'];

const COMPILER = 'compiler.jar, 14.6 MB, 7,227 entries';

export const title = 'JAR: one file, warm page cache';

/** @returns the table and the numbers. */
export async function bench(setting, rounds) {
  if (spawnSync('jarsigner', ['-help'], { stdio: 'ignore' }).error !== undefined) {
    throw new Error('the JAR part needs jarsigner: apt-get install default-jdk-headless');
  }
  const output = join(setting.folder, 'signed.jar');
  const before = () => rmSync(output, { force: true });
  const rows = [];
  const results = {};
  const compiler = closureCompiler();
  if (compiler === undefined) rows.push([COMPILER, 'not measured: it could not be fetched', '', '', '', '']);
  const archives = [
    ...(compiler === undefined ? [] : [{ name: COMPILER, path: () => compiler }]),
    ...[MADE.large, MADE.many].map((made) => ({ name: made.name, path: () => make(setting.folder, made) })),
  ];
  for (const { name, path } of archives) {
    const archive = await path();
    const contestants = [
      ...signers(setting, archive, output),
      { name: 'inflate all', command: [process.execPath, INFLATE_ALL, archive] },
      { name: 'node -e 0', command: [process.execPath, '-e', '0'] },
      { name: 'cp', command: ['cp', archive, output] },
    ];
    const result = await compete(contestants, { rounds, memory: true, before });
    await verifyOurs(setting, archive, output);
    results[name] = result;
    rows.push(...contestants.map((contestant) => row(name, contestant.name, result)));
    if (archive !== compiler) rmSync(archive);
  }
  const small = await make(setting.folder, MADE.quarter);
  results[MADE.quarter.name] = {};
  for (const contestant of signers(setting, small, output)) {
    before();
    const { peak } = await runOnce(contestant, { memory: true });
    results[MADE.quarter.name][contestant.name] = { peak };
    rows.push([MADE.quarter.name, contestant.name, '', '', '', mebibytes(peak)]);
  }
  return { text: table(HEAD, rows), results };
}

function signers({ env, local }, archive, output) {
  const store = ['-keystore', local.keystore, '-storepass', local.password];
  const algorithms = ['-digestalg', 'SHA-256', '-sigalg', 'SHA256withRSA'];
  return [
    { name: 'codesign-remote', command: [process.execPath, CLI, 'sign', archive, '-o', output], env },
    { name: 'jarsigner', command: ['jarsigner', ...store, ...algorithms, '-signedjar', output, archive, local.alias] },
  ];
}

function row(archive, program, result) {
  const of = result[program];
  const ratio = `${(of.median / result.jarsigner.median).toFixed(2)} ×`;
  return [archive, program, seconds(of.median), spread(of), ratio, mebibytes(of.peak)];
}

/** A fast signer of what does not verify would be worth nothing. */
async function verifyOurs(setting, archive, output) {
  rmSync(output, { force: true });
  await runOnce(signers(setting, archive, output)[0]);
  const said = execFileSync('jarsigner', ['-verify', output], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (!said.includes('jar verified.')) throw new Error(`jarsigner does not verify ${output}: ${said}`);
}
