/** Files whose signature is that of a security catalog. */

import { basename } from 'node:path';
import { expectedError, toCodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import { openInput } from '../files/input-file.ts';
import { examineListed, listedFile } from '../formats/catalogs.ts';
import type { ListedFile, SignableFile } from '../formats/format.ts';
import { contentReader } from '../formats/recognise.ts';
import { verifyingErrors } from './errors.ts';
import type { VerifiedFile } from './verdict.ts';
import { type Verifying, verifyFile } from './verify-file.ts';

/**
 * Verifies the catalog, and gives what verifies a file of any kind by it: a signature in that file does not count. A catalog
 * that is not good passes its verdict on to every file. Throws `catalog-unusable`.
 */
export async function verifyByCatalog(
  catalog: string,
  verifying: Verifying,
): Promise<(path: string) => Promise<VerifiedFile>> {
  let lists: SignableFile['lists'];
  // Read once: the list is the one that the signature was checked for, whatever becomes of the file.
  const verified = await verifyFile(catalog, verifying, (opened) => {
    lists = opened.lists;
  });
  const { error, format, verdict, findings, signatures } = verified;
  const isCatalog = verifying.formats.some(({ id, listsFiles }) => id === format && listsFiles);
  if (error !== undefined || !isCatalog) {
    const problem = error?.message ?? `it is of the format ${format}`;
    throw verifyingErrors('catalog-unusable', { path: catalog, problem }, { cause: error });
  }
  const isGood = verdict === 'trusted' || verdict === 'intact';
  return async (path) => {
    const common = { path, format: null, catalog, error: undefined };
    try {
      const { listed, findings: strange } = await readListed(path, verifying);
      const state = isGood ? (lists?.(listed) ?? 'not-listed') : 'listed';
      if (state === 'listed') return { ...common, verdict, findings: [...findings, ...strange], signatures };
      if (state === 'not-listed') return { ...common, verdict: 'unsigned', findings: [], signatures: [] };
      const message = 'The file differs from the one of its name in the catalog.';
      return { ...common, verdict: 'broken', findings: [broken('listed-digest-differs', message)], signatures: [] };
    } catch (thrown) {
      const problem = toCodesignError(fromFileSystem(thrown, 'read the file'));
      return { ...common, verdict: null, error: problem, findings: [], signatures: [] };
    }
  };
}

/** A damaged program has no digests: it is not the one that is listed. */
async function readListed(
  path: string,
  { formats, digestEntries, onRead }: Verifying,
): Promise<{ readonly listed: ListedFile; readonly findings: readonly Finding[] }> {
  await using input = await openInput(path, (bytes, size) => onRead?.(path, bytes, size));
  try {
    let opened: SignableFile | undefined;
    const listed = await listedFile(input.source, contentReader(digestEntries), path, formats, (file) => {
      opened = file;
    });
    return { listed, findings: opened === undefined ? [] : await examineListed(opened) };
  } catch (thrown) {
    expectedError(thrown);
    return { listed: { name: basename(path), kind: 'other', digests: new Map() }, findings: [] };
  }
}
