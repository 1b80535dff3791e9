/** Names of storages and streams, in UTF-16LE (MS-CFB, 2.6.4): the order of the directory, in which upper and lower case are equal. */

/** Shorter names come first, then upper-case code units decide. Gives 0 for names that are equal to a reader. */
export function compareNames(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  const [one, other] = [upperCase(a), upperCase(b)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** Unit by unit: a letter whose upper case has several units stays. */
function upperCase(name: Uint8Array): string {
  const units = Buffer.from(name).toString('utf16le').split('');
  return units.map((unit) => (unit.toUpperCase().length === 1 ? unit.toUpperCase() : unit)).join('');
}
