// `npm run picture`: signs and verifies on a terminal, with a real server, and draws docs/terminal.svg of it.
// `--print` shows the picture instead.
import { spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildZip } from '../../fixtures/zip-builder.mjs';
import { startServices } from '../../server/demo/service.mjs';
import { buildWhenStale } from '../../server/scripts/fresh-build.mjs';
import { asScript, runOrFail, ScriptError } from '../../server/scripts/run.mjs';
import { setUp } from '../../server/scripts/set-up.mjs';
import { drawTerminal } from './picture-svg.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const PICTURE = path.join(root, 'docs', 'terminal.svg');
/** The picture of this many columns is less than 880 px wide, as the column of text on a web page. */
const COLUMNS = 84;

const FILES = 'app.exe lib.jar lib.nupkg data.cab run.ps1';
const TYPED = [`codesign-remote sign ${FILES}`, `codesign-remote verify --roots ca.pem ${FILES}`];
/** Of the user who runs this; the picture must not show them. */
const ABOUT_TERMINALS = ['CI', 'GITHUB_ACTIONS', 'NO_COLOR', 'FORCE_COLOR'];
const TITLE = 'codesign-remote at work in a terminal';
const DESCRIPTION =
  'A program, a Java archive, a NuGet package, a cabinet and a PowerShell script are signed with a timestamp, ' +
  'each by one call to the service; verify finds all of them intact and trusted.';

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

/** A project of five files, and a certificate with a name; gives the variables that lead to it. */
async function furnish(folder, { roots, environment }) {
  await copyFile(path.join(root, 'fixtures/pe/hello.exe'), path.join(folder, 'app.exe'));
  await copyFile(path.join(root, 'fixtures/jar/plain.jar'), path.join(folder, 'lib.jar'));
  const made = { 'data.cab': makeCabinet(), 'run.ps1': 'Write-Output "Hello"\r\n', 'lib.nupkg': makePackage() };
  for (const [name, content] of Object.entries(made)) await writeFile(path.join(folder, name), content);
  const pems = await Promise.all(roots.map((file) => readFile(file, 'utf8')));
  await writeFile(path.join(folder, 'ca.pem'), pems.join(''));
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

function makePackage() {
  const manifest =
    '<package><metadata><id>lib</id><version>1.0</version><authors>Example Ltd</authors><description>A library.</description></metadata></package>';
  return buildZip({ entries: [{ name: 'lib.nuspec', contents: manifest }] });
}

/** A cabinet with one stored file (MS-CAB 2). */
function makeCabinet() {
  const [name, content] = ['read.me\0', 'Hello\r\n'];
  const cabinet = Buffer.alloc(36 + 8 + 16 + name.length + 8 + content.length);
  const [file, data] = [44, 60 + name.length];
  cabinet.write('MSCF');
  cabinet.writeUInt32LE(cabinet.length, 8);
  cabinet.writeUInt32LE(file, 16);
  cabinet.writeUInt16LE(0x0103, 24);
  cabinet.writeUInt16LE(1, 26);
  cabinet.writeUInt16LE(1, 28);
  cabinet.writeUInt32LE(data, 36);
  cabinet.writeUInt16LE(1, 40);
  cabinet.writeUInt32LE(content.length, file);
  cabinet.write(name, file + 16, 'latin1');
  cabinet.writeUInt16LE(content.length, data + 4);
  cabinet.writeUInt16LE(content.length, data + 6);
  cabinet.write(content, data + 8, 'latin1');
  return cabinet;
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
