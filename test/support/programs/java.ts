/**
 * The JDKs that check signed JARs: the one on the PATH, and those whose folders CODESIGN_TEST_JAVAS names (as JAVA_HOME
 * would, with the PATH's separator between them), so that older and newer releases can be asked too.
 */

import { spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkAll, run, type Verdict } from '../../system/interop/verifiers.ts';
import { madeOnce } from '../made-once.ts';

export interface JavaHome {
  readonly folder: string;
  /** As in `17.0.15`; `1.8.0_504` for Java 8. */
  readonly version: string;
  readonly release: number;
}

export type JavaProgramName = 'java' | 'javac' | 'jar' | 'jarsigner' | 'keytool';

export interface JarsignerVerdict extends Verdict {
  /** What it complains of, errors and warnings, except for the missing timestamp. Later JDKs complain of more. */
  readonly warnings: readonly string[];
}

/** Opens the key stores and the trust stores of tests. */
export const STORE_PASSWORD = 'changeit';

const NO_JDK = 'There is no JDK on the PATH: sudo apt-get install -y default-jdk-headless';
/** Where packages put a JDK without a link on the PATH: Alpine's, Homebrew's. server/scripts/system-packages.mjs looks there too. */
const UNLINKED = ['/usr/lib/jvm/default-jvm/bin', '/opt/homebrew/opt/openjdk/bin', '/usr/local/opt/openjdk/bin'];
/** For a JVM that does little: half the time on two cores. */
const QUICK_START = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
const ENGLISH = ['-Duser.language=en', '-Duser.country=US'];

let homes: readonly JavaHome[] | undefined;

/** The JDK on the PATH first. Throws if there is none, or when one of the named folders holds none. */
export function javaHomes(): readonly JavaHome[] {
  homes ??= findHomes();
  return homes;
}

/** The JDK on the PATH, which makes what all of them read. */
export function mainJava(): JavaHome {
  const [main] = javaHomes();
  if (main === undefined) throw new Error(NO_JDK);
  return main;
}

function findHomes(): JavaHome[] {
  const places = ['javac', ...UNLINKED.map((folder) => path.join(folder, 'javac')).filter(existsSync)];
  const [main] = places.flatMap(askJavac);
  if (main === undefined) throw new Error(NO_JDK);
  const listed = (process.env.CODESIGN_TEST_JAVAS ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const others = listed.map((folder) => {
    const [home] = askJavac(path.join(folder, 'bin', 'javac'));
    if (home === undefined) throw new Error(`CODESIGN_TEST_JAVAS names ${folder}, which holds no JDK (bin/javac)`);
    return home;
  });
  return [main, ...others.filter(({ folder }) => folder !== main.folder)];
}

/** The home of a compiler, none when it is missing. Asked of itself: on a PATH are links, shims and Apple's stubs. */
function askJavac(javac: string): JavaHome[] {
  const options = [...QUICK_START, '-XshowSettings:properties'].map((option) => `-J${option}`);
  const { status, stderr } = spawnSync(javac, [...options, '-version'], { encoding: 'utf8' });
  if (status !== 0) return [];
  const property = (name: string) => new RegExp(`^ *${name.replace('.', '\\.')} = (.*)$`, 'm').exec(stderr)?.[1] ?? '';
  // Up to Java 8 it names the runtime inside the JDK.
  const folder = property('java.home').replace(/[\\/]jre$/, '');
  const version = property('java.version');
  const release = Number.parseInt(version.replace(/^1\./, ''), 10);
  return existsSync(path.join(folder, 'bin')) ? [{ folder, version, release }] : [];
}

export function javaProgram(java: JavaHome, name: JavaProgramName): string {
  return path.join(java.folder, 'bin', name);
}

/** Runs one of the JDK's programs to its end, in English. */
export function runJava(java: JavaHome, name: JavaProgramName, args: readonly string[]): Promise<Verdict> {
  const options = [...QUICK_START, ...ENGLISH];
  const asTool = name === 'java' ? options : options.map((option) => `-J${option}`);
  return run(javaProgram(java, name), [...asTool, ...args]);
}

/** As `runJava`; throws, with what the program said, when it fails. */
export async function mustRunJava(java: JavaHome, name: JavaProgramName, args: readonly string[]): Promise<string> {
  const { accepted, output } = await runJava(java, name, args);
  if (!accepted) throw new Error(`${name} ${args.join(' ')} failed: ${output}`);
  return output;
}

/**
 * A trust store (JKS) with these certificates, PEM, in the folder. -strict takes a JAR only when one of the certificates
 * in its signature is in the store: where the root is not embedded, the intermediate must be here next to the root.
 * It is written here, because keytool takes a JVM for each certificate.
 *
 * @returns its path
 */
export function makeTruststore(certificates: string, folder: string): string {
  const blocks = certificates.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const entries = blocks.map((pem, index) => {
    const der = new X509Certificate(pem).raw;
    const time = Buffer.alloc(8);
    time.writeBigInt64BE(BigInt(Date.now()));
    return Buffer.concat([
      bigEndian(2),
      javaText(`trust-${index}`),
      time,
      javaText('X.509'),
      bigEndian(der.length),
      der,
    ]);
  });
  const body = Buffer.concat([bigEndian(0xfeedfeed), bigEndian(2), bigEndian(entries.length), ...entries]);
  const seal = createHash('sha1').update(Buffer.from(STORE_PASSWORD, 'utf16le').swap16());
  const store = path.join(folder, 'trust.jks');
  writeFileSync(store, Buffer.concat([body, seal.update('Mighty Aphrodite').update(body).digest()]));
  return store;
}

function bigEndian(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** As `DataOutput.writeUTF` writes ASCII. */
function javaText(text: string): Buffer {
  return Buffer.concat([Buffer.of(0, text.length), Buffer.from(text)]);
}

/**
 * `jarsigner -verify -strict -verbose`: signatures and digests of all entries, and the chain to the trust store, which takes 0.3 s. It reports the times of timestamps.
 * A JAR that it does not complain of may still have lost an entry, or a manifest.
 */
export async function jarsignerVerify(java: JavaHome, truststore: string, jar: string): Promise<JarsignerVerdict> {
  const { accepted, output } = await runJava(java, 'jarsigner', verifyArguments(truststore, jar));
  return jarsignerVerdict(accepted, output);
}

function verifyArguments(truststore: string, jar: string): readonly string[] {
  return ['-verify', '-strict', '-verbose', '-keystore', truststore, '-storepass', STORE_PASSWORD, jar];
}

const JARSIGNER_INTERNALS = 'jdk.jartool/sun.security.tools.jarsigner=ALL-UNNAMED';
const JARSIGNER_ALL = path.join(import.meta.dirname, '../../system/interop/JarsignerAll.java');

export async function jarsignerVerifyAll(
  java: JavaHome,
  jars: readonly { readonly jar: string; readonly truststore: string }[],
): Promise<readonly JarsignerVerdict[]> {
  const verdicts = await jarsignerAll(
    java,
    jars.map(({ jar, truststore }) => verifyArguments(truststore, jar)),
  );
  return verdicts.map(({ accepted, output }) => jarsignerVerdict(accepted, output));
}

/** Returns the output of each run. If a run fails, throws an error with its output. */
export async function mustJarsignAll(java: JavaHome, all: readonly (readonly string[])[]): Promise<readonly string[]> {
  return (await jarsignerAll(java, all)).map(({ accepted, output }, index) => {
    if (!accepted) throw new Error(`jarsigner ${all[index]?.join(' ')} failed: ${output}`);
    return output;
  });
}

/** With each of these arguments, in one JVM: that starts in the time which 20 of them take. */
async function jarsignerAll(java: JavaHome, all: readonly (readonly string[])[]): Promise<readonly Verdict[]> {
  // Later releases let no program keep jarsigner from ending the process.
  if (java.release > 17) return checkAll(all, (args) => runJava(java, 'jarsigner', args));
  const access = ['--add-exports', '--add-opens'].flatMap((option) => [option, JARSIGNER_INTERNALS]);
  const each = all.flatMap((args) => [...args, '--']);
  const classes = await madeOnce(`jarsigner-all-${java.version}`, async (folder) => {
    await mustRunJava(java, 'javac', ['--add-exports', JARSIGNER_INTERNALS, '-nowarn', '-d', folder, JARSIGNER_ALL]);
  });
  const output = Buffer.from(await mustRunJava(java, 'java', [...access, '-cp', classes, 'JarsignerAll', ...each]));
  // what the JVM says first
  let at = output.indexOf('=== ');
  return all.map((args) => {
    const [head = '', code, length] = /^=== (\d+) (\d+)\n/.exec(output.toString('latin1', at, at + 40)) ?? [];
    if (head === '')
      throw new Error(`jarsigner said nothing to ${args.join(' ')}: ${output.toString().slice(0, 2000)}`);
    const said = output.toString('utf8', at + head.length, at + head.length + Number(length));
    at += head.length + Number(length);
    return { accepted: code === '0', output: said };
  });
}

function jarsignerVerdict(isSuccess: boolean, output: string): JarsignerVerdict {
  return { accepted: isSuccess && /^jar verified\./m.test(output), output, warnings: warningsIn(output) };
}

/** Not about the JAR: the timestamp is another test's, the store is ours, and jar itself begins every JAR with META-INF/. */
const OF_NO_INTEREST =
  /signatures that do(es)? not include a timestamp|not signed by alias in this keystore|^- Entry META-INF\/ is present when reading via JarFile/;

/** The lines below the heads of the blocks of complaints, up to an empty one. Of an error every line counts. */
function warningsIn(output: string): string[] {
  const blocks = output.split(/\r?\n\r?\n/).map((block) => block.trim().split(/\r?\n/));
  return blocks.flatMap(([head = '', ...lines]) => {
    if (head.startsWith('Error:')) return lines;
    const isComplaint = head.startsWith('Warning:') || head.includes('contains internal inconsistencies');
    return isComplaint ? lines.filter((line) => !OF_NO_INTEREST.test(line)) : [];
  });
}
