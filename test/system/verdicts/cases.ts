/** All files that the table of verdicts is about, made again, in groups that are checked by the same roots. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { fixture, runCli } from '../../support/programs/cli.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { repack } from '../../unit/formats/jar/simple-zip.ts';
import { makeBlockArchives } from './blocks.ts';
import { signArchive, signArchives, tamperArchive } from './jar.ts';
import { changeNested, changeTimestamps, mutatePrograms, pathsIn, signProgram, signPrograms } from './pe.ts';
import type { VerdictPki } from './pki.ts';

export interface Group {
  readonly kind: 'pe' | 'jar';
  /** As rows name them → path. */
  readonly files: ReadonlyMap<string, string>;
  /** PEM file; trusted by all who check. */
  readonly roots: string;
}

/** Where the chains of the corpus' files end that others signed. */
const ANCHORS = fileURLToPath(new URL('anchors.pem', import.meta.url));

/** The made files are trusted by the root that one of them carries. */
export async function corpusGroups(corpus: string, folder: string): Promise<Group[]> {
  const roots = path.join(folder, 'made.pem');
  const { stdout } = await runCli(['inspect', '--certificates', path.join(corpus, 'jar-special', 'signed.jar')]);
  const last = stdout.lastIndexOf('-----BEGIN');
  writeFileSync(roots, stdout.slice(last));
  return [
    { kind: 'pe', files: underName('pe', pathsIn(path.join(corpus, 'pe'))), roots: ANCHORS },
    { kind: 'pe', files: underName('pe-special', pathsIn(path.join(corpus, 'pe-special'))), roots },
    { kind: 'jar', files: underName('jar', pathsIn(path.join(corpus, 'jar'))), roots: ANCHORS },
    { kind: 'jar', files: underName('jar-special', pathsIn(path.join(corpus, 'jar-special'))), roots },
  ];
}

/** By others' programs, with certificates and tokens that are right and wrong, and tampered. */
export async function pkiGroups(folder: string, pki: VerdictPki, verifiers: string): Promise<Group[]> {
  const plain = path.join(folder, 'plain.exe');
  await signProgram(pki, { by: 'leaf2048' }, plain);
  const [programs, archives] = await Promise.all([
    signPrograms(path.join(folder, 'signed-pe'), pki),
    signArchives(path.join(folder, 'signed-jar'), pki),
  ]);
  const mutants = await mutatePrograms(plain, path.join(folder, 'tampered-pe'), verifiers);
  return [
    { kind: 'pe', files: underName('signed-pe', programs), roots: pki.root },
    { kind: 'pe', files: underName('tampered-pe', mutants), roots: pki.root },
    { kind: 'jar', files: underName('signed-jar', archives), roots: pki.root },
  ];
}

/** By this program and its server, with timestamps, and tampered. */
export async function ownGroups(folder: string, pki: VerdictPki, verifiers: string): Promise<Group[]> {
  const server = await useServer({ tsa: true });
  const inFolder = (name: string) => path.join(folder, name);
  const sign = async (input: string, output: string, ...more: readonly string[]) => {
    const { code, stderr } = await runCli(['sign', ...more, '-o', output, input], { env: server.env });
    if (code !== 0) throw new Error(stderr);
  };
  try {
    const roots = inFolder('server.pem');
    writeFileSync(roots, readFileSync(server.roots));
    const [exe, jar, other] = [inFolder('stamped.exe'), inFolder('stamped.jar'), inFolder('other.jar')];
    writeFileSync(inFolder('another.jar'), repack(readFileSync(fixture('jar/plain.jar')), { 'hello/empty.txt': 'x' }));
    await sign(fixture('pe/hello.exe'), exe);
    await sign(fixture('jar/plain.jar'), jar);
    await sign(inFolder('another.jar'), other);
    await mutatePrograms(exe, inFolder('stamped-pe'), verifiers);
    changeTimestamps(exe, inFolder('stamped-pe'));
    await sign(exe, inFolder('stamped-pe/nested.exe'), '--append', '--algorithm', 'SHA512');
    changeNested(inFolder('stamped-pe/nested.exe'), inFolder('stamped-pe/nested-message-digest+checksum.exe'));
    await signProgram(pki, { by: 'evilleaf' }, inFolder('stamped-pe/nested-foreign.exe'), exe);
    tamperArchive(jar, other, inFolder('stamped-jar'));
    await sign(
      jar,
      inFolder('stamped-jar/second-signer.jar'),
      '--append',
      '--signer-name',
      'SECOND',
      '--algorithm',
      'SHA256',
    );
    await signArchive(pki, { by: 'evilleaf' }, jar, inFolder('stamped-jar/second-signer-foreign.jar'));
    return [
      { kind: 'pe', files: underName('stamped-pe', pathsIn(inFolder('stamped-pe'))), roots },
      { kind: 'jar', files: underName('stamped-jar', pathsIn(inFolder('stamped-jar'))), roots },
    ];
  } finally {
    await server.stop();
  }
}

/** With several signers in a block, and with content in it. */
export function blockGroup(folder: string): Group {
  const { root, files } = makeBlockArchives();
  const [place, roots] = [path.join(folder, 'block-jar'), path.join(folder, 'blocks.pem')];
  mkdirSync(place);
  writeFileSync(roots, root);
  for (const [name, bytes] of Object.entries(files)) writeFileSync(path.join(place, name), bytes);
  return { kind: 'jar', files: underName('block-jar', pathsIn(place)), roots };
}

function underName(name: string, files: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...files].map(([file, place]) => [`${name}/${file}`, place]));
}
