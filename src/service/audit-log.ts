/** The client's records (API 7, rule 5) in a file: a JSON object a line, added to whatever stands there, by several processes at once too. */

import { closeSync, constants, lstatSync, openSync, writeSync } from 'node:fs';
import { foreignLink } from '../bytes/foreign-link.ts';
import { harmlessJson } from '../errors/harmless-json.ts';
import { systemReason } from '../errors/system-reason.ts';
import type { CallRecord } from './call-record.ts';
import { auditErrors } from './errors.ts';

export interface AuditLog {
  /** Never throws: what cannot be written is told of in `warnings`. */
  write(record: CallRecord): void;
  /** A whole sentence, once something could not be written. */
  readonly warnings: readonly string[];
}

/** For this user alone. Nothing waits for a reader where the path is a pipe. */
const MODE = 0o600;
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
const ITSELF = constants.O_NOFOLLOW ?? 0;
/** Characters of a text from outside: a record id has some dozens. */
const LONGEST = 1000;

/** Makes the file where there is none. Throws `audit-log-unusable`. */
export function openAuditLog(path: string): AuditLog {
  try {
    append(path, '');
  } catch (cause) {
    throw auditErrors('audit-log-unusable', { path, reason: systemReason(cause) }, { cause });
  }
  const warnings: string[] = [];
  return {
    warnings,
    write(record) {
      try {
        append(path, `${harmlessJson(lineOf(record))}\n`);
      } catch (cause) {
        if (warnings.length > 0) return;
        warnings.push(
          `The audit log ${path} could not be written (${systemReason(cause)}): calls are missing from it.`,
        );
      }
    },
  };
}

/** Opened for each line, so that it may be moved away meanwhile; one write, which the system does not mix with others'. */
function append(path: string, line: string): void {
  const file = openSync(path, isOwnLink(path) ? FLAGS : FLAGS | ITSELF, MODE);
  try {
    const bytes = Buffer.from(line, 'utf8');
    if (bytes.length > 0 && writeSync(file, bytes) < bytes.length) throw new Error('it took half a line');
  } finally {
    closeSync(file);
  }
}

/** Another user's link could have this user, root perhaps, make or change any file. */
function isOwnLink(path: string): boolean {
  const link = foreignLink(path);
  if (link !== undefined) throw Object.assign(new Error(`${link} is a link of another user`), { code: 'FOREIGN_LINK' });
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** Always the same members in the same order. */
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
