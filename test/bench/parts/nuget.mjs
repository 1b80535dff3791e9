// Signing and verifying a NuGet package of many entries, against digesting and copying it: no other program signs one on Linux.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeArchive } from '../make-archive.mjs';
import { compete, mebibytes, seconds, spread, table } from '../measure.mjs';
import { CLI } from '../setting.mjs';

const ENTRIES = 10_000;
const BYTES = 60_000_000;

export const title = 'NuGet: one package of 60 MB, 10,000 entries, warm page cache';

/** @returns the table and the numbers. */
export async function bench({ folder, env }, rounds) {
  const [made, signed, output] = ['made', 'verified', 'signed'].map((name) => join(folder, `${name}.nupkg`));
  await makeArchive(made, { entries: ENTRIES, bytes: BYTES, first: 'Made.nuspec' });
  execFileSync(process.execPath, [CLI, 'sign', made, '-o', signed], { env, stdio: 'pipe' });
  const contestants = [
    { name: 'sign', command: [process.execPath, CLI, 'sign', made, '-o', output], env },
    { name: 'verify', command: [process.execPath, CLI, 'verify', '--integrity-only', signed] },
    { name: 'openssl dgst -sha256', command: ['openssl', 'dgst', '-sha256', made] },
    { name: 'cp', command: ['cp', made, output] },
  ];
  const results = await compete(contestants, {
    rounds,
    memory: true,
    before: () => rmSync(output, { force: true }),
  });
  const rows = contestants.map(({ name }) => {
    const of = results[name];
    return [name, seconds(of.median), spread(of), mebibytes(of.peak)];
  });
  for (const path of [made, signed]) rmSync(path);
  return { text: table(['program', 'median', 'least–most', 'peak memory'], rows), results };
}
