import { zip } from '../../unit/formats/jar/simple-zip.ts';

/** A ZIP archive with the files in order, stored or deflated. */
export function zipOf(files: Readonly<Record<string, Uint8Array>>, isDeflated = false): Buffer {
  return zip(Object.entries(files).map(([name, contents]) => ({ name, contents, isStored: !isDeflated })));
}
