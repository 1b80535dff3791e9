/** Bytes of a JAR's file that belong to no entry: which of them count against the file, and which are only reported. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Finding } from '../../errors/finding.ts';
import type { ZipArchive } from '../../zip/archive.ts';
import { findUncovered, type UncoveredBytes } from '../../zip/uncovered.ts';
import { isNamedAsJar, JAR_EXTENSIONS } from '../zip-family.ts';
import { jarErrors } from './errors.ts';

/**
 * Bytes that are not zero count against integrity: whoever added them to a signed JAR could run them. Two are exempt: what
 * stands before the archive if `name` says that Java runs the file, since launchers are put there; and an APK Signing Block.
 */
export async function examineUncovered(
  source: ByteSource,
  archive: ZipArchive,
  name: string,
): Promise<readonly Finding[]> {
  const { before, between, behind, apkSigningBlock } = await findUncovered(source, archive);
  return [
    ...aboutPreamble(before, isNamedAsJar(name)),
    ...about(between, 'bytes-between-entries', 'stand between the records of the archive'),
    ...about(behind, 'bytes-after-archive', 'follow the archive'),
    ...(apkSigningBlock === 0 ? [] : [apkBlock(apkSigningBlock)]),
  ];
}

/** Throws `jar-bytes-uncovered` for what `examineUncovered` finds against integrity. */
export async function requireCovered(source: ByteSource, archive: ZipArchive, name: string): Promise<void> {
  const findings = await examineUncovered(source, archive, name);
  const refused = findings.find(({ against }) => against === 'integrity');
  if (refused !== undefined) throw jarErrors('jar-bytes-uncovered', { problem: refused.message.replace(/\.$/, '') });
}

function* aboutPreamble({ length, isZero }: UncoveredBytes, isAccepted: boolean): Generator<Finding> {
  if (isZero || isAccepted) {
    yield* about({ length, isZero: true }, 'bytes-before-archive', 'stand before the archive');
    return;
  }
  const where = `stand before the archive, in a file whose name does not end in ${JAR_EXTENSIONS.join(', ')}`;
  yield* about({ length, isZero }, 'bytes-before-archive', where);
}

function* about({ length, isZero }: UncoveredBytes, code: string, where: string): Generator<Finding> {
  if (length === 0) return;
  const message = `${length} bytes ${where}; no signature covers them.`;
  yield { code, message, against: isZero ? 'nothing' : 'integrity' };
}

function apkBlock(length: number): Finding {
  const message = `An APK Signing Block of ${length} bytes stands before the directory; no signature of the JAR covers it, and it is not checked.`;
  return { code: 'apk-signing-block', message, against: 'nothing' };
}
