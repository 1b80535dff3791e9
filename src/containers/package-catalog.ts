/** Checks programs against the catalog in their MSIX package. Only signtool writes these catalogs. */

import type { ByteSource } from '../bytes/byte-source.ts';
import { expectedError } from '../errors/codesign-error.ts';
import { broken } from '../errors/finding.ts';
import type { Catalog, Contents, SignableFile } from '../format/signable-file.ts';
import { isCatalog, listedFile } from '../formats/catalogs.ts';
import { contentReader } from '../formats/recognise.ts';
import { isGoodVerdict, type VerifiedFile } from '../verifying/verdict.ts';
import { type Verifying, verifySource } from '../verifying/verify-file.ts';

const NAME = 'AppxMetadata/CodeIntegrity.cat';

/** Returns undefined if the package has no catalog, or if the catalog's signature is not valid. */
export async function catalogIn(contents: Contents, verifying: Verifying): Promise<Catalog | undefined> {
  const format = verifying.formats.find(({ id }) => isCatalog(id));
  for await (const { name, open } of contents.entries()) {
    if (name !== NAME || format === undefined) continue;
    let catalog: SignableFile['catalog'];
    const { verdict } = await verifySource(await open(), name, format, verifying, (opened) => {
      catalog = opened.catalog;
    });
    return isGoodVerdict(verdict) ? catalog : undefined;
  }
  return undefined;
}

/** Returns whether the catalog lists a program. A program that the catalog does not list gets the verdict `broken`. */
export async function verifyListed(
  catalog: Catalog,
  source: ByteSource,
  verified: VerifiedFile,
  { digestEntries }: Verifying,
): Promise<{ readonly verified: VerifiedFile; readonly isListed: boolean }> {
  const listed = await listedFile(source, contentReader(digestEntries), verified.path).catch(expectedError);
  if (!('digests' in listed)) return { verified, isListed: false };
  if (catalog.state(listed) === 'listed') return { verified, isListed: true };
  // signtool lists the digest of every program, but no names.
  const message = `The program was changed or added after ${NAME} was made.`;
  const findings = [...verified.findings, broken('package-catalog-differs', message)];
  return { verified: { ...verified, verdict: 'broken', findings }, isListed: false };
}
