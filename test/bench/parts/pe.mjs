// Signing a PE file of 1, 100 and 500 MB: ours with the service, the flush and the re-check, against osslsigncode with a key on the disk.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compete, mebibytes, seconds, spread, table } from '../measure.mjs';
import { CLI, makeProgram } from '../setting.mjs';

const MEGABYTES = [1, 100, 500];

export const title = 'PE: one file, warm page cache';

/** @returns the table and the numbers. */
export async function bench({ folder, env, local }, rounds) {
  const rows = [];
  const results = {};
  for (const megabytes of MEGABYTES) {
    const program = join(folder, `${megabytes}.exe`);
    const output = join(folder, 'signed.exe');
    makeProgram(program, megabytes * 1_000_000);
    const contestants = [
      { name: 'codesign-remote', command: [process.execPath, CLI, 'sign', program, '-o', output], env },
      {
        name: 'osslsigncode',
        command: [
          'osslsigncode',
          'sign',
          '-certs',
          local.certificate,
          '-key',
          local.key,
          '-h',
          'sha256',
          '-in',
          program,
          '-out',
          output,
        ],
      },
      { name: 'openssl dgst -sha256', command: ['openssl', 'dgst', '-sha256', program] },
      { name: 'cp', command: ['cp', program, output] },
    ];
    const before = () => {
      rmSync(output, { force: true });
      // What others have left to be written is not for the next one's flush to wait for.
      execFileSync('sync');
    };
    const result = await compete(contestants, { rounds, memory: true, before });
    results[`${megabytes} MB`] = result;
    const base = result.osslsigncode.median;
    for (const { name } of contestants) {
      const of = result[name];
      rows.push([
        `${megabytes} MB`,
        name,
        seconds(of.median),
        spread(of),
        `${(of.median / base).toFixed(2)} ×`,
        mebibytes(of.peak),
      ]);
    }
    rmSync(program);
  }
  return { text: table(['size', 'program', 'median', 'least–most', 'of osslsigncode', 'peak memory'], rows), results };
}
