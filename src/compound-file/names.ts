/** Order of storage and stream names in the directory, in UTF-16LE (MS-CFB, 2.6.4). Upper and lower case are equal. */

/** Shorter names come first, then upper-case code units decide. Returns 0 if readers treat the names as equal. */
export function compareNames(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  const [one, other] = [upperCase(a), upperCase(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Converts each code unit by itself. A letter whose upper case has several units stays unchanged. */
function upperCase(name: Uint8Array): string {
  const units = Buffer.from(name).toString('utf16le').split('');
  return units.map((unit) => (unit.toUpperCase().length === 1 ? unit.toUpperCase() : unit)).join('');
}
