import type { ByteSource } from '../../bytes/byte-source.ts';
import { expectedError } from '../../errors/codesign-error.ts';
import { asClause, broken, type Finding, isAgainst, note, warning } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import type { ZipArchive } from '../../zip/archive.ts';
import { isDirectory } from '../../zip/directory.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { findUncovered, type UncoveredBytes } from '../../zip/uncovered.ts';
import { jarErrors } from './errors.ts';
import { type JarLayout, MANIFEST_NAME, META_INF, type OpenedJar, ownNameOf } from './layout.ts';
import { describeHalves, inWords, listingOf } from './listing.ts';
import { isNamedAsJar, JAR_EXTENSIONS } from './options.ts';

export async function examineArchive({ source, layout, reader, name }: OpenedJar): Promise<readonly Finding[]> {
  return [
    ...(await examineUncovered(source, layout.archive, name)),
    ...manifestFindings(layout),
    ...remainsFindings(layout),
    ...(await ownFileFindings(source, layout, reader.digestEntries)),
  ];
}

function* manifestFindings({ archive, manifest, signatureFiles }: JarLayout): Generator<Finding> {
  if (manifest === undefined || signatureFiles.size === 0) return;
  const { name } = manifest.entry;
  if (name !== MANIFEST_NAME) {
    yield broken('manifest-misnamed', `The manifest is named ${name}, so Java verifies nothing.`);
  }
  const first = archive.inFile.find((entry) => entry.name !== META_INF);
  // The first entry outside META-INF. Stream readers do not look for signatures after this entry.
  const firstOther = archive.inFile.findIndex(
    (entry) => ownNameOf(entry.name) === undefined && !entry.name.toUpperCase().startsWith(META_INF),
  );
  const isLate =
    archive.inFile.findLastIndex(({ name: other }) => isSignatureFile(other)) > firstOther && firstOther >= 0;
  if (first !== manifest.entry || isLate) {
    const problem =
      "The manifest and the signatures do not come first, so Java's stream readers treat the archive as unsigned.";
    yield warning('signature-not-first', problem);
  }
}

function isSignatureFile(name: string): boolean {
  return /\.(SF|RSA|DSA|EC)$/.test(ownNameOf(name) ?? '');
}

function* remainsFindings({ archive, signatureFiles }: JarLayout): Generator<Finding> {
  for (const { code, missing, entries } of describeHalves(signatureFiles)) {
    yield warning(code, `There is no ${missing} for ${entries}, so it is not a signature.`);
  }
  const unknown = listingOf(
    archive.entries,
    ({ name }) => ownNameOf(name)?.startsWith('SIG-') === true && !isSignatureFile(name),
  );
  if (unknown.count > 0) {
    const message = `${inWords(unknown)} has the name of a signature of an unknown kind; no signature covers it.`;
    yield warning('signature-kind-unknown', message);
  }
}

/** Bytes after the data of a signature file could contain entries that only stream readers find. */
async function ownFileFindings(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
): Promise<readonly Finding[]> {
  const error = await checkOwnFiles(source, layout, digestEntries).catch(expectedError);
  if (error === undefined) return [];
  if (error.code !== 'zip-entry-damaged') throw error;
  return [broken(error.code, `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)];
}

export async function checkOwnFiles(
  source: ByteSource,
  { archive }: JarLayout,
  digestEntries: DigestEntries,
): Promise<void> {
  const own = archive.entries.filter((entry) => !isDirectory(entry) && ownNameOf(entry.name) !== undefined);
  await digestEntries(source, own, []);
}

/**
 * Bytes that are not zero could be the code of an attacker. Accepts an APK Signing Block, and a launcher if the
 * extension in `name` shows that Java runs the file.
 */
async function examineUncovered(source: ByteSource, archive: ZipArchive, name: string): Promise<readonly Finding[]> {
  const { before, between, after, apkSigningBlock } = await findUncovered(source, archive);
  return [
    ...preambleFindings(before, isNamedAsJar(name)),
    ...uncoveredFindings(between, 'bytes-between-entries', 'between the records of the archive'),
    ...uncoveredFindings(after, 'bytes-after-archive', 'after the archive'),
    ...(apkSigningBlock === 0 ? [] : [apkBlockFinding(apkSigningBlock)]),
  ];
}

export async function checkCovered(source: ByteSource, archive: ZipArchive, name: string): Promise<void> {
  const findings = await examineUncovered(source, archive, name);
  const refused = findings.find((finding) => isAgainst(finding, 'integrity'));
  if (refused !== undefined) throw jarErrors('jar-bytes-uncovered', { problem: asClause(refused) });
}

function* preambleFindings({ length, isZero }: UncoveredBytes, isAccepted: boolean): Generator<Finding> {
  if (length === 0) return;
  if (isZero || isAccepted) yield warning('bytes-before-archive', uncoveredMessage(length, 'before the archive'));
  else {
    const where = `before the archive, in a file whose name does not end in ${JAR_EXTENSIONS.join(', ')}`;
    yield broken('bytes-before-archive', uncoveredMessage(length, where));
  }
}

function* uncoveredFindings({ length, isZero }: UncoveredBytes, code: string, where: string): Generator<Finding> {
  if (length > 0) yield (isZero ? note : broken)(code, uncoveredMessage(length, where));
}

function uncoveredMessage(length: number, where: string): string {
  return `No signature covers ${plural(length, 'byte')} ${where}.`;
}

function apkBlockFinding(length: number): Finding {
  const message = `An APK Signing Block of ${length} bytes precedes the directory. No JAR signature covers it, and this program does not check it.`;
  return warning('apk-signing-block', message);
}
