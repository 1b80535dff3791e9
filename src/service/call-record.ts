/** The record of a call (API 7, rule 5), and the audit log, a file with one JSON object per line. */

import { closeSync, constants, lstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { foreignLink } from '../bytes/folders.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import { harmlessJson } from '../errors/printable.ts';
import { systemReason } from '../errors/system-reason.ts';
import { auditErrors, serviceWarnings } from './errors.ts';

export type Operation = 'sign' | 'report-sign';

/** 1 if the client processed the signature successfully, 2 if it failed (API 2.5). */
export type ReportStatus = 1 | 2;

export interface CallSubject {
  readonly file: string | undefined;
  readonly code: string | undefined;
  readonly digest: MaskedDigest | undefined;
  readonly record: string | undefined;
  readonly status: ReportStatus | undefined;
}

export interface MaskedDigest {
  readonly algorithm: DigestAlgorithm;
  readonly length: number;
  readonly masked: string;
}

export interface CallRecord extends CallSubject {
  /** `check` is a request that the service must reject. It shows whether the service accepts the credentials. */
  readonly operation: Operation | 'check';
  readonly time: string;
  readonly attempt: number;
  readonly origin: string;
  readonly httpStatus: number | undefined;
  readonly serviceCode: number | undefined;
  /** `ok`, or the code of an error. */
  readonly result: string;
  readonly milliseconds: number;
}

const SHOWN = 4;

export function maskDigest(digest: Uint8Array, algorithm: DigestAlgorithm): MaskedDigest {
  const text = Buffer.from(digest).toString('base64');
  return { algorithm, length: digest.length, masked: `${text.slice(0, SHOWN)}…${text.slice(-SHOWN)}` };
}

const MODE = 0o600;
/** With O_NONBLOCK, opening a named pipe does not wait for a reader. */
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
const ITSELF = constants.O_NOFOLLOW ?? 0;
/** Limit on the length of untrusted text. A record id has a few dozen characters. */
const LONGEST = 1000;

export function openAuditLog(path: string) {
  try {
    append(path, '');
    assertIsText(path);
  } catch (cause) {
    throw auditErrors('audit-log-unusable', { path, reason: systemReason(cause) }, { cause });
  }
  const warnings: string[] = [];
  return {
    warnings: warnings as readonly string[],
    /** Never throws. Failures are reported in `warnings` instead. */
    write(record: CallRecord): void {
      try {
        append(path, `${harmlessJson(lineOf(record))}\n`);
      } catch (cause) {
        if (warnings.length > 0) return;
        warnings.push(serviceWarnings('audit-log-incomplete', { path, reason: systemReason(cause) }));
      }
    },
  };
}

/**
 * Opens the file for each line, because other programs may move the file. Writes the line in one call, because other
 * processes may write to the file too.
 */
function append(path: string, line: string): void {
  const file = openSync(path, isOwnLink(path) ? FLAGS : FLAGS | ITSELF, MODE);
  try {
    const bytes = Buffer.from(line, 'utf8');
    if (bytes.length > 0 && writeSync(file, bytes) < bytes.length) throw new Error('it took half a line');
  } finally {
    closeSync(file);
  }
}

const START_LENGTH = 1024;

/** If the user forgot the name of the log, the path is that of a program to sign, which the lines would damage. */
function assertIsText(path: string): void {
  if (!statSync(path).isFile()) return;
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(START_LENGTH);
    if (!start.subarray(0, readSync(file, start)).includes(0)) return;
    throw Object.assign(new Error(`${path} is no text file`), { code: 'NO_TEXT_FILE' });
  } finally {
    closeSync(file);
  }
}

/** A link that another user created could make the current user (perhaps root) create or change any file. */
function isOwnLink(path: string): boolean {
  const link = foreignLink(path);
  if (link !== undefined) throw Object.assign(new Error(`${link} is a link of another user`), { code: 'FOREIGN_LINK' });
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function lineOf(record: CallRecord): object {
  const { time, operation, attempt, origin, code, digest, file, httpStatus, serviceCode, status } = record;
  return {
    time,
    operation,
    attempt,
    origin,
    code: code ?? null,
    digest: digest ?? null,
    file: bounded(file),
    httpStatus: httpStatus ?? null,
    serviceCode: serviceCode ?? null,
    record: bounded(record.record),
    status: status ?? null,
    result: record.result,
    milliseconds: record.milliseconds,
  };
}

function bounded(text: string | undefined): string | null {
  if (text === undefined) return null;
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
