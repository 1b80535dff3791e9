/** Files for runs that are killed: unsigned copies, what each is signed, and what a file is found to be afterwards. */

import { appendFile, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { verifyFile } from '../../../src/index.ts';
import { lossesOf } from '../../system/interop/compare-archives.ts';
import { osslsigncodeVerify } from '../../system/interop/verifiers.ts';
import { makeBundle, makePackage } from '../../unit/formats/appx/samples.ts';
import { headerOffsets, slowContent } from '../../unit/formats/pe/slow-pe.ts';
import { zipOf } from '../containers/make-zip.ts';
import { type CliOptions, type CliRun, fixture, REPOSITORY, runCli, temporaryFolder } from '../programs/cli.ts';
import { jarsignerVerify, mainJava, makeTruststore } from '../programs/java.ts';
import type { TestServer } from '../services/server.ts';
import { MADE_INPUTS, SERVER_PUBLISHER } from '../signed-files/made-inputs.ts';
import { isOriginalSigned } from '../signed-files/timed-signature.ts';

/** For `node --require`: counts the steps of a process, and kills it at one of them. */
export const PRELOAD = join(REPOSITORY, 'test/support/programs/killing-preload.cjs');

export interface Subject {
  readonly name: string;
  /** Whether its files get a timestamp: then no two signed ones are the same. */
  readonly isStamped: boolean;
  /** Whether it is signed with --append, which must not add a second signature. */
  readonly isAppended?: boolean;
  /** Packages in each file that are signed with it, with --inner-packages. */
  readonly innerPackages?: number;
  /** Signatures that each file takes with --inside. */
  readonly inside?: number;
  readonly originals: readonly string[];
  /** What each is signed, by its file name. */
  readonly references: ReadonlyMap<string, Buffer>;
  /** PEM file of the certificate that the signer's chain, and the authority's, end with. */
  readonly root: string;
  /** Steps of a run that nothing stops. */
  readonly steps: number;
  readonly milliseconds: number;
}

/** How the program is started: on this system, or on another one that reaches files by other paths. */
export interface Platform {
  readonly run: (args: readonly string[], options: Pick<CliOptions, 'env' | 'onStart'>) => Promise<CliRun>;
  /** A path of this machine, as the program must be given it. */
  readonly path: (path: string) => string;
}

export const THIS_PLATFORM: Platform = { run: runCli, path: (path) => path };

/** Variables whose values are paths, as the program must be given them. */
export function variablesFor({ path }: Platform, env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? path(value) : value]),
  );
}

export type FileState = 'original' | 'reference' | 'damaged';

/** So many different programs and archives in a folder, and one file of each further kind if `withOthers`. */
export async function makeOriginals(
  folder: string,
  programs: number,
  archives: number,
  withOthers = false,
): Promise<readonly string[]> {
  const paths: string[] = [];
  for (let index = 0; index < programs; index++) {
    const path = join(folder, `program-${index}.exe`);
    await copyFile(fixture('pe/hello.exe'), path);
    await appendFile(path, `${index}`.padEnd(8));
    paths.push(path);
  }
  const jars = ['plain', 'stored-descriptor', 'multi-release', 'services', 'unicode-names', 'no-manifest'];
  const manifests = ['manifest-lf', 'manifest-cr', 'manifest-sections', 'manifest-last'];
  for (const name of [...jars, ...manifests].slice(0, archives)) {
    const path = join(folder, `${name}.jar`);
    await copyFile(fixture(`jar/${name}.jar`), path);
    paths.push(path);
  }
  for (const { extension, make } of withOthers ? Object.values(MADE_INPUTS) : []) {
    const path = join(folder, `other.${extension}`);
    await writeFile(path, make());
    paths.push(path);
  }
  return paths;
}

export async function makeBundleIn(folder: string, count: number): Promise<readonly string[]> {
  const publisher = SERVER_PUBLISHER;
  const packageOf = (name: string) => makePackage({ publisher, files: [{ name, contents: name.repeat(100) }] });
  const more = Array.from({ length: count - 1 }, (_, index) => ({
    name: `package-${index}.msix`,
    bytes: packageOf(`${index}`),
  }));
  const path = join(folder, 'app.msixbundle');
  await writeFile(path, makeBundle(packageOf('first'), { publisher, more }));
  return [path];
}

/** An archive with programs next to each other, and one in an archive in it. */
export async function makeZipIn(folder: string): Promise<readonly string[]> {
  const program = async (text: string) => Buffer.concat([await readFile(fixture('pe/hello.exe')), Buffer.from(text)]);
  const inner = zipOf({ 'native.dll': await program('native.') });
  const path = join(folder, 'app.zip');
  const files = { 'a.exe': await program('program a'), 'lib.zip': inner, 'b.dll': await program('b') };
  await writeFile(path, zipOf(files, true));
  return [path];
}

type How = Pick<Subject, 'isStamped' | 'isAppended' | 'innerPackages' | 'inside'>;

export function signArguments({ isStamped, isAppended = false, innerPackages = 0, inside }: How): readonly string[] {
  return [
    'sign',
    '--json',
    ...(isStamped ? [] : ['--no-timestamp']),
    ...(isAppended ? ['--append'] : []),
    ...(innerPackages > 0 ? ['--inner-packages'] : []),
    ...(inside === undefined ? [] : ['--inside']),
  ];
}

/** Signs copies without a disturbance, and keeps what came out. */
export async function prepareSubject(
  name: string,
  originals: readonly string[],
  { env, data }: Pick<TestServer, 'env' | 'data'>,
  how: How = { isStamped: false },
  platform = THIS_PLATFORM,
): Promise<Subject> {
  await using scratch = await temporaryFolder('codesign-kill-');
  const files = await copyTo(join(scratch.path, 'files'), originals);
  const counter = join(scratch.path, 'steps');
  const started = performance.now();
  const run = await platform.run([...signArguments(how), ...files.map(platform.path)], {
    env: {
      ...variablesFor(platform, { ...env, CODESIGN_TEST_STEPS_FILE: counter }),
      NODE_OPTIONS: `--require ${platform.path(PRELOAD)}`,
    },
  });
  const milliseconds = performance.now() - started;
  if (run.code !== 0) throw new Error(`the reference run of ${name} failed: ${run.stderr}`);
  const references = new Map<string, Buffer>();
  for (const file of files) references.set(basename(file), await readFile(file));
  const steps = Number(await readFile(counter, 'utf8'));
  const root = join(data, 'roots.pem');
  const complaints = await complaintsOfVerifiers(files, root, scratch.path);
  if (complaints.length > 0) throw new Error(`the references are not accepted: ${complaints.join('\n')}`);
  return { name, ...how, originals, references, root, steps, milliseconds };
}

/** Formats that osslsigncode does not read. */
const ONLY_OWN: ReadonlySet<string> = new Set([
  ...[MADE_INPUTS.navx, MADE_INPUTS.rdp, MADE_INPUTS.nuget, MADE_INPUTS.pdf].map(({ extension }) => `.${extension}`),
  '.zip',
]);
const TIMED: ReadonlySet<string> = new Set(
  Object.values(MADE_INPUTS).flatMap((each) => ('isTimed' in each ? [`.${each.extension}`] : [])),
);

/** All of them by this program, and some by osslsigncode and jarsigner. */
export async function complaintsOfVerifiers(
  files: readonly string[],
  root: string,
  scratch: string,
): Promise<readonly string[]> {
  const complaints: string[] = [];
  const inside = files.some((file) => file.endsWith('.zip')) ? ['--inside'] : [];
  const own = await runCli(['verify', '--roots', root, ...inside, ...files]);
  if (own.code !== 0) complaints.push(`verify: ${own.stdout}`);
  const truststore = makeTruststore(await readFile(root, 'utf8'), scratch);
  for (const file of new Set([...files.slice(0, 3), ...files.slice(-3)])) {
    if (ONLY_OWN.has(extname(file))) continue;
    const isArchive = file.endsWith('.jar');
    const verdict = await (isArchive ? jarsignerVerify(mainJava(), truststore, file) : osslsigncodeVerify(root, file));
    if (!verdict.accepted) complaints.push(`${basename(file)}: ${verdict.output}`);
  }
  return complaints;
}

export async function copyTo(folder: string, originals: readonly string[]): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const copies = originals.map((path) => join(folder, basename(path)));
  for (const [index, path] of originals.entries()) await copyFile(path, copies[index] ?? '');
  return copies;
}

export async function stateOf(file: string, subject: Subject): Promise<FileState> {
  const bytes = await readFile(file);
  const reference = subject.references.get(basename(file));
  if (reference?.equals(bytes)) return 'reference';
  const original = await readFile(subject.originals.find((path) => basename(path) === basename(file)) ?? '');
  if (bytes.equals(original)) return 'original';
  if (TIMED.has(extname(file))) {
    const how = { roots: subject.root, requireTimestamp: subject.isStamped };
    return (await isOriginalSigned(file, original, how)) ? 'reference' : 'damaged';
  }
  if (!subject.isStamped || reference === undefined) return 'damaged';
  if (subject.innerPackages !== undefined) {
    const { verdict } = await verifyFile(file, { roots: subject.root, requireTimestamp: true });
    return verdict === 'trusted' ? 'reference' : 'damaged';
  }
  const isSame = file.endsWith('.jar')
    ? lossesOf(original, bytes).length === 0
    : withoutCertificates(bytes).equals(withoutCertificates(reference));
  const { verdict } = await verifyFile(file, { roots: subject.root, requireTimestamp: true });
  return isSame && verdict === 'trusted' ? 'reference' : 'damaged';
}

/** Returns the bytes before the Attribute Certificate Table, without the fields that change with the signature. */
function withoutCertificates(program: Buffer): Buffer {
  return slowContent(program, program.readUInt32LE(headerOffsets(program).entry));
}
