/** Pieces of work, and files that they are for. */
import type { CallMetadata, RecordedSigningOptions, Work } from '../../../../src/journal/journal.ts';

export const SIGNATURE = new Uint8Array(512).map((_, index) => index);

export function workOf(number: number, changes: Partial<Work> = {}): Work {
  const digest = Buffer.alloc(32, number % 251);
  digest.writeUInt32BE(number % 2 ** 32);
  return {
    origin: 'https://sign.example',
    code: 'C-1',
    algorithm: 'SHA256',
    digest: digest.toString('hex'),
    ...changes,
  };
}

export function factsOf(file: string, leaf = 'aa'): CallMetadata {
  return { file, bytes: 1234, certificate: { name: 'Example Ltd', sha256: leaf }, client: 'c0ffee' };
}

/** With the place that the file is in, and is written to. */
export function factsAt(path: string, changes: Partial<RecordedSigningOptions> = {}): CallMetadata {
  const manner = { path, output: path, existing: 'replace', formatOptions: {}, ...changes } as const;
  return { ...factsOf(path), signingOptions: manner };
}
