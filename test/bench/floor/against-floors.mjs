// Processor time against the floors, with each version of Node.js, and wall-clock time where each flush is slow.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { compete } from '../measure.mjs';
import { CLI, compared, floor, freshRun, makeLarge, nodes, rowsWith, signInPlace } from './programs.mjs';

const SLOW_FLUSHES = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', 'inject=fsync,fdatasync:delay_exit=10000'];
export function againstFloors() {
  const ofEach = nodes().flatMap(({ version, path }) => {
    const isOld = Number(version) < 22;
    const row = (work, aim, oldAim, measure) => rowsWith(version)(work, 'floor', isOld ? oldAim : aim, measure);
    return [
      row('300 programs, processor', 1.8, 2, (setting) => batch(setting, path, 300)),
      row('one program, processor', 1.8, 2.6, (setting) => batch(setting, path, 1)),
      row('PE 100 MB, processor', 1.3, 1.55, (setting) => large(setting, path)),
    ];
  });
  if (spawnSync('strace', ['-V'], { stdio: 'ignore' }).error !== undefined) {
    process.stderr.write('left out: slow flushes, which need strace (apt-get install strace)\n');
    return ofEach;
  }
  const [{ version, path }] = nodes();
  const measure = (setting) => batch(setting, path, 100, { through: SLOW_FLUSHES, wait: 50, what: 'wall' });
  return [...ofEach, rowsWith(version)('100 programs, flushes of 10 ms, wall', 'floor', 1.3, measure)];
}

/** `through` starts both; `wait`: milliseconds that the service takes. */
async function batch({ folder, standIn, rounds }, node, files, { through = [], wait = 0, what = 'processor' } = {}) {
  const before = ({ name }) => {
    const { programs, env } = freshRun(folder, standIn.env(wait), files);
    const command = name === 'floor' ? [node, floor('batch'), ...programs] : signInPlace(node, programs);
    return { command: [...through, ...command], env };
  };
  const taken = await compete([{ name: 'floor' }, { name: 'ours' }], { rounds, before });
  return compared(taken.ours, taken.floor, what);
}

async function large({ folder, standIn, rounds }, node) {
  mkdirSync(folder, { recursive: true });
  const [input, output] = [makeLarge(join(folder, '100.exe'), 100_000_000), join(folder, 'signed.exe')];
  const before = ({ name }) => {
    rmSync(output, { force: true });
    // What others left to be written is not for the next one's flush to wait for.
    execFileSync('sync');
    const { env } = freshRun(folder, standIn.env(), 0);
    const sign = [node, CLI, 'sign', '-q', '--no-timestamp', input, '-o', output];
    return { command: name === 'floor' ? [node, floor('large'), input, output] : sign, env };
  };
  const taken = await compete([{ name: 'floor' }, { name: 'ours' }], { rounds, before });
  return compared(taken.ours, taken.floor, 'processor');
}
