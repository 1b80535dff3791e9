// `npm run picture`: signs, verifies and lists on a terminal, with a real server, and draws docs/terminal.svg of it.
// `--print` shows the picture instead.
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServices } from '../../server/demo/service.mjs';
import { buildWhenStale } from '../../server/scripts/fresh-build.mjs';
import { asScript, runOrFail, ScriptError } from '../../server/scripts/run.mjs';
import { setUp } from '../../server/scripts/set-up.mjs';
import { drawTerminal } from './picture-svg.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PICTURE = path.join(root, 'docs', 'terminal.svg');
/** Rows of the history fit. */
const COLUMNS = 165;

const TYPED = [
  'codesign-remote sign dist/app.exe dist/lib.jar',
  'codesign-remote verify --roots root.pem dist/app.exe dist/lib.jar',
  'codesign-remote history',
];
/** Of the user who runs this; the picture must not show them. */
const ABOUT_TERMINALS = ['CI', 'GITHUB_ACTIONS', 'NO_COLOR', 'FORCE_COLOR'];
const TITLE = 'codesign-remote at work in a terminal';
const DESCRIPTION =
  'A program and a Java archive are signed with a timestamp, each by one call to the service; ' +
  'verify finds both intact and trusted; history lists the two signatures and their sum of the month.';

await asScript(async (args) => {
  const isPrinted = args.includes('--print');
  const say = (line) => console.error(line);
  await setUp({ say });
  await buildWhenStale(say);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'codesign-picture-'));
  const service = await startServices(new AbortController().signal);
  try {
    const env = await furnish(folder, service);
    const runs = TYPED.map((typed) => ({ typed, output: runOnTerminal(typed, folder, env) }));
    const picture = drawTerminal(runs, { columns: COLUMNS, title: TITLE, description: DESCRIPTION });
    if (isPrinted) process.stdout.write(picture);
    else await writeFile(PICTURE, picture);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
});

/** A project of two files, and a certificate with a name; gives the variables that lead to it. */
async function furnish(folder, { roots, environment }) {
  await mkdir(path.join(folder, 'dist'));
  await copyFile(path.join(root, 'fixtures/pe/hello.exe'), path.join(folder, 'dist/app.exe'));
  await copyFile(path.join(root, 'fixtures/jar/plain.jar'), path.join(folder, 'dist/lib.jar'));
  const pems = await Promise.all(roots.map((file) => readFile(file, 'utf8')));
  await writeFile(path.join(folder, 'root.pem'), pems.join(''));
  const data = path.resolve(path.dirname(roots[0]), '../..');
  const server = path.join(root, 'server/bin/codesign-remote-server.js');
  const request = ['--data', data, '--number', 'release', '--common-name', 'Example Ltd'];
  const chain = await runOrFail(process.execPath, [server, 'certificate', 'add', ...request]);
  const others = Object.entries(environment).filter(([name]) => !ABOUT_TERMINALS.includes(name));
  return {
    ...Object.fromEntries(others),
    CODESIGN_CODE: 'release',
    CODESIGN_CERTIFICATE: chain.trim(),
    // The live line is gone when the run is over: it is not in a picture of the end.
    CODESIGN_PROGRESS: 'none',
    // Which of two concurrent files is first would be a matter of time.
    CODESIGN_CONCURRENCY: '1',
    TERM: 'xterm-256color',
    PYTHONCOERCECLOCALE: '0',
  };
}

/** All that it printed, with its escapes. */
function runOnTerminal(typed, cwd, env) {
  const [, ...args] = typed.split(' ');
  const opener = [path.join(root, 'test/support/programs/open-pty.py'), `${COLUMNS}`];
  const program = [process.execPath, path.join(root, 'bin/codesign-remote.js')];
  const options = { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  const { status, stdout, error } = spawnSync('python3', [...opener, ...program, ...args], options);
  if (error) throw new ScriptError('python3 is needed, for its terminal', 'apt-get install python3');
  if (status !== 0) throw new ScriptError(`${typed} failed (exit code ${status}):\n${stdout}`);
  // Of the same length, so that columns stay.
  return stdout.replace(/127\.0\.0\.1:\d+/g, (address) => 'sign.example'.padEnd(address.length));
}
