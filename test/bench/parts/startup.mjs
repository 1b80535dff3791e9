// What starting costs, over a bare interpreter: --version, both kinds of help, and signing a small file with a service on this machine.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compete, table } from '../measure.mjs';
import { CLI } from '../setting.mjs';

export const title = 'Starting';

/** @returns the table and the numbers. */
export async function bench({ folder, env }, rounds) {
  const program = join(folder, 'small.exe');
  copyFileSync(fileURLToPath(new URL('../../../fixtures/pe/hello.exe', import.meta.url)), program);
  const ours = (...args) => [process.execPath, CLI, ...args];
  const contestants = [
    { name: 'node -e 0', command: [process.execPath, '-e', '0'] },
    { name: '--version', command: ours('--version') },
    { name: '--help', command: ours('--help') },
    { name: 'sign --help', command: ours('sign', '--help') },
    { name: 'sign small.exe', command: ours('sign', program, '-o', join(folder, 'signed.exe')), env },
  ];
  const results = await compete(contestants, { rounds: rounds * 3 });
  const bare = results['node -e 0'].median;
  const rows = contestants.map(({ name }) => {
    const { median, least, most } = results[name];
    const over = name === 'node -e 0' ? '' : `+ ${(median - bare).toFixed(0)} ms`;
    return [name, `${median.toFixed(0)} ms`, `${least.toFixed(0)}–${most.toFixed(0)}`, over];
  });
  return { text: table(['command', 'median', 'least–most', 'over the interpreter'], rows), results };
}
