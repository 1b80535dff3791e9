/** Signs, stamps and unsigns every JAR of the corpus (CODESIGN_TEST_CORPUS), and has programs that are not ours examine each result. */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { memorySource } from '../../../src/bytes/byte-source.ts';
import { hasFindingAgainst } from '../../../src/errors/finding.ts';
import { jar } from '../../../src/formats/jar/index.ts';
import { readLayout } from '../../../src/formats/jar/layout.ts';
import {
  type JarsignerVerdict,
  jarsignerVerifyAll,
  javaHomes,
  mainJava,
  makeTruststore,
} from '../../support/programs/java.ts';
import { folderForAll } from '../../support/set-up.ts';
import { applyPatch } from '../../unit/formats/support/apply-patch.ts';
import { placeIn, removalOf, signingIn, stampIn } from '../../unit/formats/support/change.ts';
import { isIntact } from '../../unit/formats/support/is-intact.ts';
import { openBytes, signBytes } from '../../unit/formats/support/sign-bytes.ts';
import { lossesOf, madeOnUnix } from './compare-archives.ts';
import { readAsArchives, readAsStreams } from './java/readers.ts';
import { makeRootedSigner } from './rooted-signer.ts';
import { readSpecialFiles } from './special/special-files.ts';

const corpus = process.env.CODESIGN_TEST_CORPUS ?? '';

const archives = corpus === '' ? [] : readdirSync(path.join(corpus, 'jar')).map((file) => path.join('jar', file));
const specialArchives = readSpecialFiles('jar-special')
  .filter(({ result }) => result === 'signed')
  .map(({ file }) => path.join('jar-special', file));
const all = [...archives, ...specialArchives];
const javas = corpus === '' ? [] : javaHomes();

/** What no stream reader can read, signed or not: a file that begins with something else, and sizes that it needs too late. */
const UNSTREAMABLE = ['preamble-unfixed.jar', 'stored-data-descriptor.jar'].map((file) =>
  path.join('jar-special', file),
);
/** java.util.jar.JarInputStream does not verify this entry if it is the first file of an archive. */
const INDEX = 'META-INF/INDEX.LIST';
const INDEXED = ['ant__ant-launcher-1.10.13.jar', 'libnetty-java__netty-codec.jar'].map((file) =>
  path.join('jar', file),
);
/** Java 25's jarsigner reads a JAR in both ways, and says or throws what it finds. */
const OF_STREAMS = /JarInputStream/;
const NO_STREAM = /only DEFLATED entries can have EXT descriptor/;
/** Said of each JAR that holds an entry made on Unix: those are kept byte for byte, permissions too. */
const PERMISSIONS = /^POSIX file permission and\/or symlink attributes detected/;

const signer = await makeRootedSigner();
const folder = folderForAll();
for (const name of ['jar', 'jar-special']) {
  for (const place of ['.', 'unsigned']) mkdirSync(path.join(folder, place, name), { recursive: true });
}
const root = path.join(folder, 'root.pem');
writeFileSync(root, signer.root);
const truststore = makeTruststore(signer.root, folder);

const originalPath = (file: string) => path.join(corpus, file);
const signedPath = (file: string) => path.join(folder, file);
const unsignedPath = (file: string) => path.join(folder, 'unsigned', file);

describe.skipIf(corpus === '')('the corpus', () => {
  it.each(all)('%s is signed, and has lost nothing', async (file) => {
    const { result } = await signBytes(jar, readFileSync(originalPath(file)), signer, { unchecked: true });
    writeFileSync(signedPath(file), result);
    expect(lossesOf(readFileSync(originalPath(file)), result)).toEqual([]);
    const signatures = await (await openBytes(jar, result)).signatures();
    expect(signatures.map(({ signer }) => signer.name)).toEqual(['Test Publisher']);
  });

  it.each(all)('%s is intact, stamped and unsigned, and has lost nothing', async (file) => {
    const result = readFileSync(signedPath(file));
    const signed = await openBytes(jar, result);
    const [signature] = await signed.signatures();
    if (signature === undefined) throw new Error('there is no signature');
    expect(await isIntact(signature)).toBe(true);
    expect(hasFindingAgainst(await signed.examine(), 'integrity')).toBe(false);
    expect((await placeIn(signed, signature.envelope)).patch).toEqual([]);

    const stamping = await stampIn(signed, new Map([[signature, Buffer.from('3000', 'hex')]]));
    const stamped = applyPatch(result, stamping.patch);
    await signingIn(await openBytes(jar, stamped)).verify(stamping);
    const back = await placeIn(await openBytes(jar, stamped), signature.envelope);
    expect(applyPatch(stamped, back.patch)).toEqual(result);

    const unsigned = applyPatch(stamped, await removalOf(await openBytes(jar, stamped)));
    writeFileSync(unsignedPath(file), unsigned);
    const original = readFileSync(originalPath(file));
    const wasSigned = await hasDigests(original);
    // Digests that were there before go too, and sections that held nothing else.
    const lost = lossesOf(original, unsigned).filter((loss) => !loss.startsWith('manifest: ') || !wasSigned);
    expect(lost).toEqual([]);
  });

  it('is restored for Java once the signature is removed', async () => {
    expect(archives.length).toBeGreaterThan(50);
    const readings = await readAsArchives(mainJava(), [...all.map(originalPath), ...all.map(unsignedPath)]);
    const [before, after] = [readings.slice(0, all.length), readings.slice(all.length)];
    for (const [index, file] of all.entries()) {
      const { entries, attributes } = before[index] ?? expect.unreachable();
      expect([file, after[index]]).toMatchObject([file, { entries, failures: [], signers: new Map() }]);
      for (const [name, value] of attributes) expect([file, after[index]?.attributes.get(name)]).toEqual([file, value]);
    }
  });

  describe.each(javas.map((java) => ({ version: java.version, java })))('once signed, to Java $version', ({ java }) => {
    it('is verified by jarsigner, strictly and with nothing but the root to trust', async () => {
      const verdicts = await jarsignerVerifyAll(
        java,
        all.map((file) => ({ jar: signedPath(file), truststore })),
      );
      const complaints = all.flatMap((file, index) => complaintsOf(file, verdicts[index]));
      expect(complaints).toEqual([]);
    });

    it('is whole to readers of its directory and of streams, each file signed, by a chain to the root', async () => {
      const readings = await readAsArchives(java, all.map(signedPath), { root });
      const originals = UNSTREAMABLE.map(originalPath);
      const streams = await readAsStreams(java, [...all.map(signedPath), ...originals]);
      for (const [index, file] of all.entries()) {
        const { jar: _, entries, signers, chains, ...rest } = readings[index] ?? expect.unreachable();
        expect([file, rest]).toMatchObject([file, { hasManifest: true, unsigned: [], failures: [] }]);
        expect([file, [...signers.values()]]).toEqual([file, Array(entries).fill(['Test Publisher'])]);
        expect(chains).toEqual(new Map(entries === 0 ? [] : [['Test Publisher', 'good']]));

        if (UNSTREAMABLE.includes(file)) continue;
        const unsigned = INDEXED.includes(file) ? [INDEX] : [];
        expect([file, streams[index]]).toMatchObject([file, { hasManifest: true, entries, unsigned, failures: [] }]);
        const names = [...(streams[index]?.signers.values() ?? [])];
        expect([file, names]).toEqual([file, Array(entries - unsigned.length).fill(['Test Publisher'])]);
      }
      // A stream reader that could not read the original cannot read the result, for the same reasons.
      const reasons = (failures: readonly string[] = []) =>
        failures.map((failure) => failure.replace(/^META-INF\S+ /, ''));
      for (const [index, file] of UNSTREAMABLE.entries()) {
        const [before, after] = [streams[all.length + index], streams[all.indexOf(file)]];
        expect([file, before]).toMatchObject([file, { entries: 0, signers: new Map() }]);
        expect([file, after]).toMatchObject([file, { entries: 0, signers: new Map() }]);
        expect([file, reasons(after?.failures)]).toEqual([file, reasons(before?.failures)]);
      }
    });
  });
});

async function hasDigests(bytes: Buffer): Promise<boolean> {
  const { manifest } = await readLayout(memorySource(bytes));
  return /-Digest: /i.test(manifest?.parsed.bytes.toString() ?? '');
}

/** What jarsigner reports about a file and should not report. */
function complaintsOf(file: string, verdict: JarsignerVerdict | undefined): string[] {
  const { accepted = false, output = '', warnings = [] } = verdict ?? {};
  if (!accepted)
    return file.endsWith('stored-data-descriptor.jar') && NO_STREAM.test(output) ? [] : [`${file}: ${output}`];
  return warnings.filter((warning) => !isToBeExpected(file, warning)).map((warning) => `${file}: ${warning}`);
}

function isToBeExpected(file: string, warning: string): boolean {
  if (PERMISSIONS.test(warning)) return madeOnUnix(readFileSync(originalPath(file))).length > 0;
  if (INDEXED.includes(file))
    return warning === `- Entry ${INDEX} is signed in JarFile but is not signed in JarInputStream`;
  return UNSTREAMABLE.includes(file) && OF_STREAMS.test(warning);
}
