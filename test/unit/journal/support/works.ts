/** Pieces of work, and files that they are for. */

import { randomBytes } from 'node:crypto';
import { CodesignError } from '../../../../src/errors/codesign-error.ts';
import type { CallMetadata, ClaimRequest, RecordedSigningOptions, Work } from '../../../../src/journal/journal.ts';
import type { JournalOptions } from '../../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../../src/journal/processes.ts';

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

const TIME = '2026-11-01T12:00:00.000Z';

/** A file that is written in place. */
export function factsAt(path: string, changes: Partial<RecordedSigningOptions> = {}): CallMetadata {
  return {
    ...{ file: path, bytes: 1234, certificate: { name: 'Example Ltd', sha256: 'aa' }, client: 'c0ffee' },
    signingOptions: {
      ...{ path, output: path, existing: 'replace', formatOptions: {}, time: TIME, report: true },
      ...changes,
    },
  };
}

/** The error of `ClaimRequest.mismatch`. */
export class Mismatch extends CodesignError {
  readonly calls: readonly string[];
  constructor(calls: readonly string[]) {
    super({ code: 'signature-mismatch', category: 'network', message: 'it does not verify' });
    this.calls = calls;
  }
}

/** The service signs with the key of the certificate `aa`. */
export function askingOf(number: number, metadata: CallMetadata = factsAt(`/${number}`)): ClaimRequest {
  return {
    work: workOf(number),
    metadata,
    verifies: () => metadata.certificate.sha256 === 'aa',
    mismatch: (calls) => new Mismatch(calls),
  };
}

/** As the program opens a journal, with the real clocks and processes. */
export const optionsHere = (folder: string): JournalOptions => ({
  folder,
  now: () => new Date(),
  uptime: () => Number(process.hrtime.bigint()) / 1e6,
  randomId: () => randomBytes(8).toString('hex'),
  processes: observeProcesses(),
  keepDays: 90,
  runningFor: 0,
  patience: 60_000,
});
