// The same work on each version of Node that is supported: starting, one small and one large program, one archive signed and verified.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { compete, runOnce, seconds, spread, table } from '../measure.mjs';
import { CLI, makeProgram } from '../setting.mjs';
import { MADE, make } from './archives.mjs';

/** Where each version is a folder named by it, as npm installs the package `node`: 24/node_modules/.bin/node. */
const FOLDER = process.env.CODESIGN_TEST_NODES || join(homedir(), '.cache', 'codesign-remote-nodes');

export const title = 'Versions of Node';

/** @returns the table and the numbers. */
export async function bench({ folder, env }, rounds) {
  const nodes = findNodes();
  const [small, large] = [
    ['small.exe', 100_000],
    ['large.exe', 100_000_000],
  ].map(([name, bytes]) => {
    makeProgram(join(folder, name), bytes);
    return join(folder, name);
  });
  const archive = await make(folder, MADE.large);
  const output = join(folder, 'signed');
  const root = join(folder, 'server', 'service', 'certificates', 'ca.pem');
  const signed = join(folder, 'verified.jar');
  await runOnce({ command: [process.execPath, CLI, 'sign', '--no-timestamp', archive, '-o', signed], env });
  const sign = (file) => ['sign', '--no-timestamp', file, '-o', output];
  const works = [
    { work: '--version', args: ['--version'] },
    { work: '--help', args: ['--help'] },
    { work: 'sign, PE of 100 KB', args: sign(small) },
    { work: 'sign, PE of 100 MB', args: sign(large) },
    { work: `sign, JAR of ${MADE.large.name}`, args: sign(archive) },
    { work: `verify, JAR of ${MADE.large.name}`, args: ['verify', '--roots', root, signed] },
  ];
  const rows = [];
  const results = {};
  for (const { work, args } of works) {
    const contestants = nodes.map(({ name, program }) => ({ name, command: [program, CLI, ...args], env }));
    const found = await compete(contestants, { rounds, before: () => rmSync(output, { force: true }) });
    results[work] = found;
    for (const { name } of contestants) {
      const ratio = `${(found[name].median / found[nodes[0].name].median).toFixed(2)} ×`;
      rows.push([work, name, seconds(found[name].median), spread(found[name]), ratio]);
    }
  }
  for (const path of [small, large, archive, signed]) rmSync(path);
  return { text: table(['work', 'Node', 'median', 'least–most', `of ${nodes[0].name}`], rows), results };
}

/** The running one first, then the others by number. */
function findNodes() {
  const others = existsSync(FOLDER) ? readdirSync(FOLDER).sort((a, b) => Number(a) - Number(b)) : [];
  const found = others
    .map((version) => ({ name: `Node ${version}`, program: join(FOLDER, version, 'node_modules', '.bin', 'node') }))
    .filter(({ program }) => existsSync(program));
  if (found.length === 0) {
    throw new Error(
      `no further versions of Node are in ${FOLDER}; npm install --prefix FOLDER/24 node@24 puts one there`,
    );
  }
  return [{ name: `Node ${process.versions.node.split('.')[0]}`, program: process.execPath }, ...found];
}
