/** Containers whose contents `sign --inside` does not change, because something else depends on their bytes. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { CodesignError } from '../errors/codesign-error.ts';
import type { Format } from '../format/format.ts';
import type { Contents } from '../format/signable-file.ts';
import { containerErrors } from './errors.ts';

type ReadOnlyError = (details: { readonly location: string }) => CodesignError;

/** Formats in which sizes or digests of the files are recorded elsewhere. */
const BY_FORMAT: Readonly<Record<string, ReadOnlyError>> = {
  appx: (details) => containerErrors('sign-before-packing', details),
  msi: (details) => containerErrors('msi-read-only', details),
  cab: (details) => containerErrors('cabinet-read-only', details),
  asar: (details) => containerErrors('asar-read-only', details),
  tar: (details) => containerErrors('tar-read-only', details),
  pe: (details) => containerErrors('overlay-read-only', details),
};

/** Signatures of other kinds of ZIP archives: Mozilla, Visual Studio, Office, OpenDocument and EPUB. */
const OTHER_SIGNATURE =
  /^(META-INF\/(mozilla\.(sf|rsa)|cose\.sig|documentsignatures\.xml|signatures\.xml)$|_xmlsignatures\/|package\/services\/digital-signature\/)/i;
const WHEEL_RECORD = /^[^/]+\.dist-info\/RECORD$/;

/** Returns the error for a file that would have to be signed; undefined if the container can be changed. */
export async function whyReadOnly(
  { id }: Format,
  source: ByteSource,
  { entries, changing }: Contents,
): Promise<ReadOnlyError | undefined> {
  const known = BY_FORMAT[id];
  if (known !== undefined) return known;
  if (changing === undefined) return (details) => containerErrors('container-read-only', details);
  if (id !== 'zip') return undefined;
  for await (const { name } of entries()) {
    if (WHEEL_RECORD.test(name)) return (details) => containerErrors('wheel-read-only', details);
    if (OTHER_SIGNATURE.test(name)) return (details) => containerErrors('other-signature-read-only', details);
  }
  const start = Buffer.from(await source.read(0, Math.min(2, source.size))).toString('latin1');
  if (start === 'JM') return (details) => containerErrors('jmod-read-only', details);
  return start === 'PK' ? undefined : (details) => containerErrors('overlay-read-only', details);
}
