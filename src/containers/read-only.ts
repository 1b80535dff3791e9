import type { ByteSource } from '../bytes/byte-source.ts';
import type { Format } from '../format/format.ts';
import type { Contents } from '../format/signable-file.ts';

/** The reason why `sign --inside` does not change the files in a container. */
export interface ReadOnly {
  readonly container: string;
  readonly reason: string;
}

/** Most of these containers cannot change, because sizes or digests of their contents are recorded elsewhere. */
const BY_FORMAT: Readonly<Record<string, ReadOnly>> = {
  appx: { container: 'a package (MSIX, APPX)', reason: 'its block map contains their digests' },
  msi: { container: 'an installer (MSI)', reason: 'its tables contain their sizes and digests' },
  cab: { container: 'a cabinet (CAB)', reason: "installers contain the cabinet's size and digest" },
  asar: { container: 'an ASAR archive', reason: "the Electron program contains the archive's digest" },
  tar: { container: 'a tar or gzip archive', reason: 'only ZIP archives can be changed' },
};
const APPENDED: ReadOnly = {
  container: 'an archive that follows a program or other data',
  reason: 'the program contains their sizes or digests',
};
const WHEEL: ReadOnly = { container: 'a Python wheel', reason: 'its RECORD file contains their digests' };
const JMOD: ReadOnly = { container: 'a JMOD file', reason: "other Java modules contain the module's digest" };
const SIGNED: ReadOnly = { container: 'its container', reason: 'that would break the signature of another kind in it' };
const UNKNOWN: ReadOnly = { container: 'its container', reason: 'this program cannot write such a container' };

/** Matches the signatures of Mozilla, Visual Studio, Office, OpenDocument and EPUB files. */
const OTHER_SIGNATURE =
  /^(META-INF\/(mozilla\.(sf|rsa)|cose\.sig|documentsignatures\.xml|signatures\.xml)$|_xmlsignatures\/|package\/services\/digital-signature\/)/i;
const WHEEL_RECORD = /^[^/]+\.dist-info\/RECORD$/;

/** Returns undefined if the files in the container can be changed. */
export async function whyReadOnly(
  { id }: Format,
  source: ByteSource,
  { entries, changing }: Contents,
): Promise<ReadOnly | undefined> {
  const known = id === 'pe' ? APPENDED : BY_FORMAT[id];
  if (known !== undefined) return known;
  if (changing === undefined) return UNKNOWN;
  if (id !== 'zip') return undefined;
  for await (const { name } of entries()) {
    if (WHEEL_RECORD.test(name)) return WHEEL;
    if (OTHER_SIGNATURE.test(name)) return SIGNED;
  }
  const start = Buffer.from(await source.read(0, Math.min(2, source.size))).toString('latin1');
  if (start === 'JM') return JMOD;
  return start === 'PK' ? undefined : APPENDED;
}
