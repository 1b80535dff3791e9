/** Pieces of work, and files that they are for. */
import type { CallMetadata, RecordedSigningOptions, Work } from '../../../../src/journal/journal.ts';

export const SIGNATURE = new Uint8Array(512).map((_, index) => index);

export function workOf(number: number, changes: Partial<Work> = {}): Work {
  const digest = new Uint8Array(32).fill(number % 251);
  new DataView(digest.buffer).setUint32(0, number);
  return { origin: 'https://sign.example', code: 'C-1', algorithm: 'SHA256', digest, ...changes };
}

export function factsOf(file: string, leaf = 'aa'): CallMetadata {
  return { file, bytes: 1234, certificate: { name: 'Example Ltd', sha256: leaf }, client: 'c0ffee' };
}

/** With the place that the file is in, and is written to. */
export function factsAt(path: string, changes: Partial<RecordedSigningOptions> = {}): CallMetadata {
  const manner = { path, output: path, existing: 'replace', formatOptions: {}, ...changes } as const;
  return { ...factsOf(path), signingOptions: manner };
}
