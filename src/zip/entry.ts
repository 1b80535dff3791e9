/** One entry of a ZIP archive: what its directory record and its local header say, and where its bytes are. */

export interface ZipEntry {
  /** Its place in the directory, from 0. */
  readonly index: number;
  /** With `/`; a directory's ends with one. */
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  /** Of the data in the archive, in bytes. */
  readonly compressedSize: number;
  /** Of the contents, in bytes. */
  readonly size: number;
  /** Where its local header is in the file. */
  readonly offset: number;
  /** Where its data begins in the file. */
  readonly dataOffset: number;
  /** Where its record ends in the file: header, data and, where it has one, data descriptor. */
  readonly end: number;
  /** Where its record is in the bytes of the directory. */
  readonly recordStart: number;
  readonly recordEnd: number;
}

export function isDirectory({ name }: ZipEntry): boolean {
  return name.endsWith('/');
}
