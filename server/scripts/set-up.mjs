// Installs what a new clone needs: npm packages, SoftHSM, and the PKCS#11 addon. Quick if everything is installed.
// As a script: node server/scripts/set-up.mjs [--tests]; with --tests also the programs that `npm test` compares with.
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNodeHeaders } from './node-headers.mjs';
import { asScript, onPath, run, runOrFail, ScriptError } from './run.mjs';
import { ADDON_TOOLS, LONG_TEST_TOOLS, provideTools, TEST_TOOLS, WINDOWS_TEST_TOOLS } from './system-packages.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const OLDEST_NODE = [20, 19];

/** Installs what is missing. `say` prints each step. Throws a ScriptError that says what the user must do. */
export async function setUp({ forTests = false, forLongTests = false, forWindowsTests = false, say }) {
  refuseOldNode();
  await installNpmPackages(say);
  const addonIsMissing = !(await loadAddon()).loads;
  await provideTools(
    [
      'softhsm',
      ...(addonIsMissing ? ADDON_TOOLS : []),
      ...(forTests ? TEST_TOOLS : []),
      ...(forLongTests ? LONG_TEST_TOOLS : []),
      ...(forWindowsTests ? WINDOWS_TEST_TOOLS : []),
    ],
    say,
  );
  if (addonIsMissing) await buildAddon(say);
}

function refuseOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new ScriptError(
    `This needs Node.js ${OLDEST_NODE.join('.')} or later; ${process.execPath} is ${process.versions.node}.`,
    'Get a newer one from https://nodejs.org.',
  );
}

/** `npm ci` writes node_modules/.package-lock.json last: after a success it is newer than package-lock.json. */
async function installNpmPackages(say) {
  const installed = path.join(root, 'node_modules', '.package-lock.json');
  const lock = path.join(root, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  say('Installing the npm packages (npm ci)');
  await npm(['ci', '--no-audit', '--no-fund']);
}

/** The PKCS#11 addon is delivered as source. npm builds it only on request, because .npmrc forbids scripts of packages. */
async function buildAddon(say) {
  const nodedir = findNodeHeaders();
  say(`Building the PKCS#11 addon (with the Node headers in ${nodedir})`);
  await npm(['rebuild', 'pkcs11js', '--ignore-scripts=false'], { npm_config_nodedir: nodedir });
  const { loads, output } = await loadAddon();
  if (!loads) throw new ScriptError(`The PKCS#11 addon was built but does not load:\n${output.trim()}`);
}

async function loadAddon() {
  const { code, output } = await run(process.execPath, ['-e', "require('pkcs11js')"], { cwd: root });
  return { loads: code === 0, output };
}

/** Runs npm with the Node.js that runs this script, even if another one is first on the PATH. */
async function npm(args, extraEnvironment = {}) {
  const env = { ...process.env, ...extraEnvironment };
  const cli = process.env.npm_execpath;
  if (cli?.endsWith('npm-cli.js')) return runOrFail(process.execPath, [cli, ...args], { cwd: root, env });
  if (onPath('npm') === undefined) throw new ScriptError('npm is missing; it comes with Node.js, or as a package npm.');
  return runOrFail('npm', args, { cwd: root, env });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await asScript((args) => setUp({ forTests: args.includes('--tests'), say: (line) => console.error(line) }));
}
