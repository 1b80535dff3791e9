/** What must never come of foreign bytes: errors without a code, bytes changed, time and memory spent on them. */

import { asn1Errors } from '../../src/asn1/errors.ts';
import { authenticodeErrors } from '../../src/authenticode/errors.ts';
import { bytesErrors } from '../../src/bytes/errors.ts';
import { certificateErrors } from '../../src/certificates/errors.ts';
import { cmsErrors } from '../../src/cms/errors.ts';
import { compoundFileErrors } from '../../src/compound-file/errors.ts';
import { CodesignError } from '../../src/errors/codesign-error.ts';
import { fileErrors } from '../../src/files/errors.ts';
import { appxErrors } from '../../src/formats/appx/errors.ts';
import { cabErrors } from '../../src/formats/cab/errors.ts';
import { catErrors } from '../../src/formats/cat/errors.ts';
import { formatErrors } from '../../src/formats/errors.ts';
import { jarErrors } from '../../src/formats/jar/errors.ts';
import { msiErrors } from '../../src/formats/msi/errors.ts';
import { navxErrors } from '../../src/formats/navx/errors.ts';
import { nugetErrors } from '../../src/formats/nuget/errors.ts';
import { pdfSigningErrors } from '../../src/formats/pdf/errors.ts';
import { peErrors } from '../../src/formats/pe/errors.ts';
import { rdpErrors } from '../../src/formats/rdp/errors.ts';
import { scriptErrors } from '../../src/formats/script/errors.ts';
import { httpErrors } from '../../src/http/errors.ts';
import { journalErrors } from '../../src/journal/errors.ts';
import { settingsErrors } from '../../src/options/errors.ts';
import { pdfErrors } from '../../src/pdf-syntax/errors.ts';
import { businessErrors, networkErrors, statusErrors } from '../../src/service/errors.ts';
import { signingErrors } from '../../src/signing/errors.ts';
import { timestampErrors } from '../../src/timestamp/errors.ts';
import { verifyingErrors } from '../../src/verifying/errors.ts';
import { zipErrors } from '../../src/zip/errors.ts';
import type { Target } from './target.ts';

export const MOST_SECONDS = 2;
export const MOST_MEBIBYTES = 200;

const TABLES = [
  asn1Errors,
  authenticodeErrors,
  bytesErrors,
  certificateErrors,
  cmsErrors,
  fileErrors,
  formatErrors,
  jarErrors,
  peErrors,
  appxErrors,
  pdfErrors,
  pdfSigningErrors,
  cabErrors,
  catErrors,
  compoundFileErrors,
  msiErrors,
  nugetErrors,
  navxErrors,
  nugetErrors,
  rdpErrors,
  scriptErrors,
  httpErrors,
  journalErrors,
  businessErrors,
  networkErrors,
  statusErrors,
  settingsErrors,
  signingErrors,
  timestampErrors,
  verifyingErrors,
  zipErrors,
];

/** What is wrong with a case; the first line says it, and is the same for the same fault. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** What came of work that may refuse: its result, or the code that it was rejected with. Throws every other error. */
export async function answering<T>(work: () => T | Promise<T>): Promise<{ readonly value: T } | Refused> {
  try {
    return { value: await work() };
  } catch (thrown) {
    requireCoded(thrown);
    return { code: thrown.code, error: thrown };
  }
}

export interface Refused {
  readonly code: string;
  readonly error: CodesignError;
}

/** Whether it succeeded, for work whose result is not used. */
export async function wordFor(work: () => unknown): Promise<string> {
  const answer = await answering(work);
  return 'code' in answer ? answer.code : 'good';
}

function requireCoded(thrown: unknown): asserts thrown is CodesignError {
  if (!(thrown instanceof CodesignError)) throw thrown;
  const { code, category, message, hint } = thrown;
  if (category === 'internal') throw thrown;
  const isKnown = TABLES.some(
    ({ table }) => (table as Readonly<Record<string, { category: string }>>)[code]?.category === category,
  );
  if (!isKnown) throw new Fault(`an error whose code is in no table: ${code}`);
  for (const text of [message, hint ?? '']) requireSaid(text, code);
}

/** A sentence with a hole in it. */
export function requireSaid(text: string, where: string): void {
  if (/\bundefined\b|\bNaN\b|\[object /.test(text)) throw new Fault(`a message with a hole in it (${where}): ${text}`);
}

export function require(isSo: boolean, otherwise: string): asserts isSo {
  if (!isSo) throw new Fault(otherwise);
}

export interface Verdict {
  /** The result as a word; for a fault the first line of its message. */
  readonly word: string;
  /** With where it was thrown; undefined for a case in which nothing is wrong. */
  readonly fault: string | undefined;
  readonly seconds: number;
}

/** Runs one case and holds it to all that is asked except for memory, which is the process's. */
export async function checkCase({ run }: Pick<Target, 'run'>, input: Uint8Array): Promise<Verdict> {
  const before = Buffer.from(input);
  const started = process.cpuUsage();
  let word = '';
  let fault: string | undefined;
  try {
    word = await run(input);
  } catch (thrown) {
    fault = described(thrown);
  }
  const { user, system } = process.cpuUsage(started);
  // Of the processor, not of the clock: the machine may have other work.
  const seconds = (user + system) / 1e6;
  if (fault === undefined && !before.equals(input)) fault = 'the input was changed';
  if (fault === undefined && seconds > MOST_SECONDS) fault = `more than ${MOST_SECONDS} s of processor time`;
  return { word: fault?.split('\n')[0] ?? word, fault, seconds };
}

function described(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `thrown, and no error: ${String(thrown)}`;
  const cause = thrown.cause instanceof Error ? `\nbecause of ${thrown.cause.stack}` : '';
  return `${thrown.stack ?? thrown.message}${cause}`;
}
