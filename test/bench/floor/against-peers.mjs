// Wall-clock time against osslsigncode and jarsigner, which sign with a key file, and neither flush nor read their result again.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installerSources } from '../from-source.mjs';
import { compete, runOnce } from '../measure.mjs';
import { CLI, compared, freshRun, makeLarge, nodes, rowsWith } from './programs.mjs';

const [{ version, path: node }] = nodes();
const PASSWORD = 'changeit';
const MAKE_ARCHIVE = fileURLToPath(new URL('../make-archive.py', import.meta.url));

export function againstPeers() {
  const row = rowsWith(version);
  const program = (megabytes) => (folder) => makeLarge(join(folder, `${megabytes}.exe`), megabytes * 1_000_000);
  const installer = async (folder) => {
    const { makeCompoundFile, newStream } = await installerSources();
    const path = join(folder, 'large.msi');
    writeFileSync(path, makeCompoundFile({ children: [newStream('Cabinet', randomBytes(100_000_000))] }));
    return path;
  };
  const rows = [
    row('PE 100 MB', 'osslsigncode', 1.2, sign(program(100), osslsigncode())),
    row('PE 500 MB', 'osslsigncode', 0.9, sign(program(500), osslsigncode())),
    row('MSI 100 MB', 'osslsigncode', 1.2, sign(installer, osslsigncode('-add-msi-dse'))),
    row('verify PE 500 MB', 'osslsigncode', 0.7, verify(program(500), verifyProgram)),
  ];
  if (spawnSync('jarsigner', ['-help'], { stdio: 'ignore' }).error !== undefined) {
    process.stderr.write('left out: JAR, which needs jarsigner (apt-get install default-jdk-headless)\n');
    return rows;
  }
  const archive = (entries, bytes) => (folder) => {
    const path = join(folder, `${entries}.jar`);
    execFileSync('python3', [MAKE_ARCHIVE, path, `${entries}`, `${bytes}`]);
    return path;
  };
  return [
    ...rows,
    row('JAR of 100,000 entries', 'jarsigner', 0.25, sign(archive(100_000, 45_000_000), jarsigner)),
    row('verify JAR 240 MB', 'jarsigner', 0.4, verify(archive(20_000, 240_000_000), verifyArchive)),
  ];
}

const sign = (makeInput, peer) => async (setting) => {
  const { folder, standIn, rounds } = setting;
  mkdirSync(folder, { recursive: true });
  const input = await makeInput(folder);
  const output = join(folder, `signed${input.slice(input.lastIndexOf('.'))}`);
  const theirs = peer(setting, input, output);
  const before = ({ name }) => {
    rmSync(output, { force: true });
    execFileSync('sync');
    const { env } = freshRun(folder, standIn.env(), 0);
    return name === 'ours' ? { command: ourSigning(input, output), env } : { command: theirs };
  };
  const taken = await compete([{ name: 'ours' }, { name: 'theirs' }], { rounds, before });
  return compared(taken.ours, taken.theirs, 'wall');
};

const ourSigning = (input, output) => [node, CLI, 'sign', '-q', '--no-timestamp', input, '-o', output];

const verify = (makeInput, peer) => async (setting) => {
  const { folder, standIn, rounds } = setting;
  mkdirSync(folder, { recursive: true });
  const input = await makeInput(folder);
  const signed = join(folder, `signed${input.slice(input.lastIndexOf('.'))}`);
  await runOnce({ command: ourSigning(input, signed), env: freshRun(folder, standIn.env(), 0).env });
  const contestants = [
    { name: 'ours', command: [node, CLI, 'verify', '-q', '--roots', standIn.certificate, signed] },
    { name: 'theirs', command: peer(setting, signed) },
  ];
  const taken = await compete(contestants, { rounds });
  return compared(taken.ours, taken.theirs, 'wall');
};

const osslsigncode =
  (...options) =>
  ({ standIn: { key, certificate } }, input, output) => {
    const signer = ['-certs', certificate, '-key', key, '-h', 'sha256'];
    return ['osslsigncode', 'sign', ...options, ...signer, '-in', input, '-out', output];
  };

const verifyProgram = ({ standIn }, path) => ['osslsigncode', 'verify', '-CAfile', standIn.certificate, '-in', path];

function jarsigner({ folder, standIn: { key, certificate } }, input, output) {
  const store = join(folder, 'signer.p12');
  const bundle = ['pkcs12', '-export', '-name', 'signer', '-passout', `pass:${PASSWORD}`, '-out', store];
  execFileSync('openssl', [...bundle, '-inkey', key, '-in', certificate], { stdio: 'pipe' });
  const options = ['-keystore', store, '-storepass', PASSWORD, '-digestalg', 'SHA-256', '-sigalg', 'SHA256withRSA'];
  return ['jarsigner', ...options, '-signedjar', output, input, 'signer'];
}

function verifyArchive({ folder, standIn }, path) {
  const store = ['-keystore', join(folder, 'trust.p12'), '-storepass', PASSWORD];
  const imported = ['-importcert', '-noprompt', '-alias', 'root', '-file', standIn.certificate, ...store];
  execFileSync('keytool', imported, { stdio: 'pipe' });
  return ['jarsigner', '-verify', ...store, path];
}
