/** The rules of the specification written down again, slowly and over whole files, to check the fast code by. */

export function headerOffsets(file: Buffer) {
  const optional = file.readUInt32LE(60) + 24;
  const directories = optional + (file.readUInt16LE(optional) === 0x20b ? 112 : 96);
  return { checksum: optional + 64, entry: directories + 32 };
}

/** Word by word, CheckSum as zero, plus the length. */
export function slowChecksum(original: Buffer): number {
  const file = Buffer.from(original);
  file.writeUInt32LE(0, headerOffsets(file).checksum);
  let sum = 0;
  for (let offset = 0; offset < file.length; offset += 2) {
    sum += (file[offset] ?? 0) + ((file[offset + 1] ?? 0) << 8);
    sum = (sum & 0xffff) + (sum >>> 16);
  }
  return sum + file.length;
}

/** What Authenticode digests of a program that ends at `end`, without padding. */
export function slowContent(file: Buffer, end = file.length): Buffer {
  const { checksum, entry } = headerOffsets(file);
  return Buffer.concat([file.subarray(0, checksum), file.subarray(checksum + 4, entry), file.subarray(entry + 8, end)]);
}
