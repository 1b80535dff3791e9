// Signing a PE file of 1, 100 and 500 MB, the second with page hashes too: ours with the service, the flush and the re-check, against osslsigncode with a key on the disk.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    if (megabytes === 100) coverBySection(program);
    const command = [process.execPath, CLI, 'sign', program, '-o', output];
    const contestants = [
      { name: 'codesign-remote', command, env },
      ...(megabytes === 100 ? [{ name: 'with --page-hashes', command: [...command, '--page-hashes'], env }] : []),
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

/** Page hashes cover sections: the last one reaches up to the end of the file then. */
function coverBySection(program) {
  const bytes = readFileSync(program);
  const optional = bytes.readUInt32LE(60) + 24;
  const sections = optional + bytes.readUInt16LE(optional - 4);
  const last = sections + (bytes.readUInt16LE(optional - 18) - 1) * 40;
  bytes.writeUInt32LE(bytes.length - bytes.readUInt32LE(last + 20), last + 16);
  writeFileSync(program, bytes);
}
