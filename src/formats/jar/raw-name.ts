/** Names of entries as new records of src/zip take them. */

/** Of UTF-8, each byte as a character. */
export function rawName({ name }: { readonly name: string }): string {
  return Buffer.from(name).toString('latin1');
}
