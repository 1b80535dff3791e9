/** What is wrong or odd with a JAR as a whole, whatever its signatures say: what none of them can cover, and what belongs to none. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { Finding } from '../../errors/finding.ts';
import { isDirectory, type ZipEntry } from '../../zip/entry.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { inWords, listed, listingOf } from './coverage.ts';
import { type JarLayout, MANIFEST_NAME, META_INF, type OpenedJar, ownNameOf } from './layout.ts';
import { examineUncovered } from './uncovered.ts';

export async function examineArchive({ source, layout, reader, name }: OpenedJar): Promise<readonly Finding[]> {
  return [
    ...(await examineUncovered(source, layout.archive, name)),
    ...aboutManifest(layout),
    ...aboutRemains(layout),
    ...(await aboutOwnFiles(source, layout, reader.digestEntries)),
  ];
}

function* aboutManifest({ archive, manifest, signatureFiles }: JarLayout): Generator<Finding> {
  if (manifest === undefined || signatureFiles.size === 0) return;
  const { name } = manifest.entry;
  if (name !== MANIFEST_NAME) {
    const message = `The manifest is named ${name}, under which Java verifies nothing.`;
    yield { code: 'manifest-misnamed', message, against: 'integrity' };
  }
  const first = archive.inFile.find((entry) => entry.name !== META_INF);
  // Behind them, a stream reader no longer looks for signatures.
  const firstOther = archive.inFile.findIndex((entry) => ownNameOf(entry.name) === undefined && !isUnderMetaInf(entry));
  const late =
    archive.inFile.findLastIndex(({ name: other }) => isSignatureFile(other)) > firstOther && firstOther >= 0;
  if (first !== manifest.entry || late) {
    const problem = "Manifest and signatures do not come first: Java's stream readers take the archive as unsigned.";
    yield odd('signature-not-first', problem);
  }
}

function isUnderMetaInf({ name }: ZipEntry): boolean {
  return name.toUpperCase().startsWith(META_INF);
}

function isSignatureFile(name: string): boolean {
  return /\.(SF|RSA|DSA|EC)$/.test(ownNameOf(name) ?? '');
}

/** Halves of signatures, and SIG-* files. */
function* aboutRemains({ archive, signatureFiles }: JarLayout): Generator<Finding> {
  const withoutBlock: string[] = [];
  const withoutFile: string[] = [];
  for (const { signatureFile, blocks } of signatureFiles.values()) {
    if (signatureFile === undefined) {
      for (const { name } of blocks) withoutFile.push(name);
    } else if (blocks.length === 0) withoutBlock.push(signatureFile.name);
  }
  if (withoutBlock.length > 0) {
    yield odd(
      'signature-block-missing',
      `There is no signature block for ${inWords(listed(withoutBlock))}: it is no signature.`,
    );
  }
  if (withoutFile.length > 0) {
    yield odd(
      'signature-file-missing',
      `There is no signature file for ${inWords(listed(withoutFile))}: it is no signature.`,
    );
  }
  const unknown = listingOf(
    archive.entries,
    ({ name }) => ownNameOf(name)?.startsWith('SIG-') === true && !isSignatureFile(name),
  );
  if (unknown.count > 0) {
    yield odd(
      'signature-kind-unknown',
      `${inWords(unknown)} is named as a signature, and of no kind that is known; no signature covers it.`,
    );
  }
}

/** What is not digested must hold what it says, too: behind its data, entries could hide that only stream readers see. */
async function aboutOwnFiles(
  source: ByteSource,
  layout: JarLayout,
  digestEntries: DigestEntries,
): Promise<readonly Finding[]> {
  try {
    await requireSoundRest(source, layout, digestEntries);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof CodesignError) || thrown.code !== 'zip-entry-damaged') throw thrown;
    return [{ code: thrown.code, message: `${capitalised(thrown.message)}.`, against: 'integrity' }];
  }
}

/** Throws `zip-entry-damaged`. */
export async function requireSoundRest(
  source: ByteSource,
  { archive }: JarLayout,
  digestEntries: DigestEntries,
): Promise<void> {
  const own = archive.entries.filter((entry) => !isDirectory(entry) && ownNameOf(entry.name) !== undefined);
  await digestEntries(source, own, []);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function odd(code: string, message: string): Finding {
  return { code, message, against: 'nothing' };
}
