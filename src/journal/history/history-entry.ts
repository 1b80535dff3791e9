/** An entry of the history as it stands in a line. */

import { DIGEST_ALGORITHMS } from '../../crypto/algorithms.ts';
import type { HistoryEntry } from '../journal.ts';
import { decodeLine } from '../lines.ts';

const OUTCOMES: readonly unknown[] = [
  'under-way',
  'unwritten',
  'unreported',
  'unknown',
  'written',
  'refused',
  'unusable',
  'given-up',
] satisfies HistoryEntry['outcome'][];
const COUNTED: readonly unknown[] = ['yes', 'no', 'unknown'] satisfies HistoryEntry['counted'][];
const REPORTED: readonly unknown[] = [1, 2, undefined] satisfies HistoryEntry['reported'][];
const ALGORITHMS: readonly unknown[] = DIGEST_ALGORITHMS;

/**
 * Undefined for a line that is torn, damaged or unknown. Written out by hand: of a million entries, a schema makes
 * several million objects.
 */
export function readEntry(line: string): HistoryEntry | undefined {
  const value = decodeLine(line);
  if (!isEntry(value)) return undefined;
  const { id, at, ended, file, bytes, filesWritten, certificate, origin, code, algorithm, digest } = value;
  const { record, outcome, counted, reported, reason } = value;
  return {
    id,
    at,
    ended,
    file,
    bytes,
    filesWritten,
    certificate: { name: certificate.name, sha256: certificate.sha256 },
    origin,
    code,
    algorithm,
    digest,
    record,
    outcome,
    counted,
    reported,
    reason,
  };
}

function isEntry(value: unknown): value is HistoryEntry {
  if (!isObject(value)) return false;
  const { certificate } = value;
  return (
    areTexts(value.id, value.at, value.file, value.origin, value.code, value.digest) &&
    [value.ended, value.record, value.reason].every((text) => text === undefined || typeof text === 'string') &&
    typeof value.bytes === 'number' &&
    typeof value.filesWritten === 'number' &&
    isObject(certificate) &&
    areTexts(certificate.name, certificate.sha256) &&
    ALGORITHMS.includes(value.algorithm) &&
    OUTCOMES.includes(value.outcome) &&
    COUNTED.includes(value.counted) &&
    REPORTED.includes(value.reported)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
