/** In the binary form of a GUID, the first three of the five groups are little-endian. */

const GROUPS: readonly (readonly number[])[] = [
  [3, 2, 1, 0],
  [5, 4],
  [7, 6],
  [8, 9],
  [10, 11, 12, 13, 14, 15],
];

export function guidText(bytes: Uint8Array): string {
  return GROUPS.map((group) => group.map((index) => (bytes[index] ?? 0).toString(16).padStart(2, '0')).join(''))
    .join('-')
    .toUpperCase();
}

export function guidBytes(guid: string): Uint8Array {
  const digits = Buffer.from(guid.replaceAll('-', ''), 'hex');
  const bytes = new Uint8Array(digits.length);
  for (const [position, index] of GROUPS.flat().entries()) bytes[index] = digits[position] ?? 0;
  return bytes;
}
