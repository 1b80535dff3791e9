import { basename } from 'node:path';
import { expectedError } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import { openInput } from '../files/input-file.ts';
import type { ListedFile, SignableFile } from '../format/signable-file.ts';
import { examineListed, isCatalog, listedFile } from '../formats/catalogs.ts';
import { contentReader } from '../formats/recognise.ts';
import { verifyingErrors } from './errors.ts';
import { isGoodVerdict, type VerifiedFile } from './verdict.ts';
import { unreadFile, type Verifying, verifyFile } from './verify-file.ts';

/**
 * Returns a function that verifies files by the catalog and ignores the signatures in these files. If the catalog
 * itself is invalid, its verdict applies to every file. Throws `catalog-unusable`.
 */
export async function verifyByCatalog(
  catalog: string,
  verifying: Verifying,
): Promise<(path: string) => Promise<VerifiedFile>> {
  let list: SignableFile['catalog'];
  // The list is read during verification. It is therefore the verified list, even if the catalog file changes later.
  const verified = await verifyFile(catalog, verifying, (opened) => {
    list = opened.catalog;
  });
  const { error, format, verdict, findings, signatures } = verified;
  if (error !== undefined || !isCatalog(format)) {
    const problem = error?.message ?? `its format is ${format}`;
    throw verifyingErrors('catalog-unusable', { path: catalog, problem }, { cause: error });
  }
  const isGood = isGoodVerdict(verdict);
  return async (path) => {
    const common = { path, format: null, catalog, error: undefined };
    try {
      const { listed, findings: strange } = await readListed(path, verifying);
      const state = isGood ? (list?.state(listed) ?? 'not-listed') : 'listed';
      if (state === 'listed') return { ...common, verdict, findings: [...findings, ...strange], signatures };
      if (state === 'not-listed') return { ...common, verdict: 'unsigned', findings: [], signatures: [] };
      const message = 'The file differs from the file of the same name in the catalog.';
      return { ...common, verdict: 'broken', findings: [broken('listed-digest-differs', message)], signatures: [] };
    } catch (thrown) {
      return { ...unreadFile(path, thrown), catalog };
    }
  };
}

/** A damaged program has no digest that a catalog could list. */
async function readListed(
  path: string,
  { digestEntries, onRead }: Verifying,
): Promise<{ readonly listed: ListedFile; readonly findings: readonly Finding[] }> {
  await using input = await openInput(path, (bytes, size) => onRead?.(path, bytes, size));
  try {
    let opened: SignableFile | undefined;
    const listed = await listedFile(input.source, contentReader(digestEntries), path, (file) => {
      opened = file;
    });
    return { listed, findings: opened === undefined ? [] : await examineListed(opened) };
  } catch (thrown) {
    expectedError(thrown);
    return { listed: { name: basename(path), kind: 'other', digests: new Map() }, findings: [] };
  }
}
