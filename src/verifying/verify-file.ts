import type { ByteSource } from '../bytes/byte-source.ts';
import type { WorkBudget } from '../crypto/work-budget.ts';
import { CodesignError, expectedError, toCodesignError } from '../errors/codesign-error.ts';
import { type Finding, hasFindingAgainst, isObjection, note, rejected } from '../errors/finding.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import { openInput } from '../files/input-file.ts';
import type { Format } from '../format/format.ts';
import type { SignableFile } from '../format/signable-file.ts';
import { contentReader, recogniseFormat } from '../formats/recognise.ts';
import type { DigestEntries } from '../zip/entry-digests.ts';
import type { ExamineTrust } from './trust.ts';
import type { Verdict, VerifiedFile, VerifiedSignature } from './verdict.ts';
import { examinePolicy, flatten, integrityBy, isGoodVerdict, type VerifyPolicy, worstOf } from './verdict.ts';
import { verifySignature } from './verify-signature.ts';

export interface Verifying extends Reading {
  readonly examineTrust: ExamineTrust | undefined;
  readonly now: Date;
  readonly policy: VerifyPolicy;
}

/** `onOpen` receives the open file, for callers that need more than the verdict. */
export async function verifyFile(path: string, verifying: Verifying, onOpen?: OnOpen): Promise<VerifiedFile> {
  try {
    await using input = await openInput(path, (bytes, size) => verifying.onRead?.(path, bytes, size));
    const format = await recogniseFormat(input.source, [path], verifying);
    return await verifySource(input.source, path, format, verifying, onOpen);
  } catch (thrown) {
    const unread = unreadFile(path, thrown);
    return unread;
  }
}

export function unreadFile(path: string, thrown: unknown): VerifiedFile {
  const error = toCodesignError(fromFileSystem(thrown, 'read the file'));
  return { path, format: null, verdict: null, findings: [], signatures: [], error };
}

export type OnOpen = (file: SignableFile) => void;

/** `name` is the path of a file, or its location inside another file. Does not throw. */
export async function verifySource(
  source: ByteSource,
  name: string,
  format: Format,
  verifying: Verifying,
  onOpen: OnOpen = () => undefined,
): Promise<VerifiedFile> {
  try {
    const reader = contentReader(verifying.digestEntries);
    const signable = await format.open(source, reader, name);
    onOpen(signable);
    const examined = await examineFile({ format, signable, budget: reader.budget }, verifying);
    return { path: name, format: format.id, error: undefined, ...examined };
  } catch (thrown) {
    const error = toCodesignError(fromFileSystem(thrown, 'read the file'));
    return { path: name, format: format.id, signatures: [], ...(await unreadable(source, error, format)) };
  }
}

async function examineFile(
  { format, signable, budget }: Pick<ReadFile, 'format' | 'signable' | 'budget'>,
  verifying: Verifying,
): Promise<Pick<VerifiedFile, 'verdict' | 'findings' | 'signatures'>> {
  const { examineTrust, now } = verifying;
  const charged: typeof examineTrust = examineTrust && ((request) => examineTrust({ ...request, budget }));
  const context = { examineTrust: charged, now, purpose: format.purpose };
  const signatures: VerifiedSignature[] = [];
  for (const signature of await signable.signatures()) signatures.push(await verifySignature(signature, context));
  const examined = await signable.examine();
  const verdict = verdictOn(signatures, examined, examineTrust !== undefined);
  if (verdict === 'unsigned') return { verdict, findings: examined.map(unsignedFinding), signatures };
  if (!isGoodVerdict(verdict)) return { verdict, findings: examined, signatures };
  const lacking = examinePolicy(signatures, verifying.policy);
  if (lacking.length === 0) return { verdict, findings: examined, signatures };
  return { verdict: 'not-accepted', findings: [...examined, ...lacking], signatures };
}

/** In a file without a signature, no finding can mean that a signature is broken. */
function unsignedFinding(finding: Finding): Finding {
  return isObjection(finding) ? note(finding.code, finding.message) : finding;
}

function verdictOn(
  signatures: readonly VerifiedSignature[],
  findings: readonly Finding[],
  isTrustAsked: boolean,
): Verdict {
  const all = flatten(signatures);
  if (all.length === 0) return 'unsigned';
  const integrity = worstOf([integrityBy(findings), ...all.map((signature) => signature.integrity)]);
  if (integrity !== 'intact') return integrity;
  if (!isTrustAsked) return 'intact';
  const isTrusted = !hasFindingAgainst(findings, 'trust') && all.every(({ trust }) => trust === 'trusted');
  return isTrusted ? 'trusted' : 'untrusted';
}

/**
 * If the format is known but the structure is invalid, the file is broken or cannot be verified. A file without any
 * trace of a signature is unsigned.
 */
async function unreadable(
  source: ByteSource,
  error: CodesignError,
  format: Format,
): Promise<Pick<VerifiedFile, 'verdict' | 'findings' | 'error'>> {
  if (error.category !== 'local' || isReadError(error)) {
    return { verdict: null, findings: [], error };
  }
  const { code } = error;
  if (!(await seemsSigned(source, format))) {
    return { verdict: 'unsigned', findings: [note(code, sentence(error))], error: undefined };
  }
  const finding = rejected(error, code, sentence(error));
  return {
    verdict: integrityBy([finding]) === 'broken' ? 'broken' : 'unsupported',
    findings: [finding],
    error: undefined,
  };
}

async function seemsSigned(source: ByteSource, format: Format): Promise<boolean> {
  try {
    return await format.seemsSigned(source);
  } catch (thrown) {
    expectedError(fromFileSystem(thrown, 'read the file'));
    return true; // The file was deleted or became unreadable, so the verdict stays as it is.
  }
}

/** The `cause` of a file system error contains the name of the system call. */
function isReadError({ cause }: CodesignError): boolean {
  return cause instanceof Error && !(cause instanceof CodesignError) && 'syscall' in cause;
}

export interface Reading {
  readonly formats: readonly Format[];
  readonly digestEntries: DigestEntries;
  readonly onRead?: ((path: string, bytes: number, size: number) => void) | undefined;
}

export interface ReadFile extends AsyncDisposable {
  readonly path: string;
  readonly format: Format;
  readonly source: ByteSource;
  readonly signable: SignableFile;
  readonly budget: WorkBudget;
}

/** `onFormat` is called as soon as the format is known, even if the file later turns out to be unreadable. */
export async function readFile(
  path: string,
  reading: Reading,
  onFormat: (format: Format) => void = () => undefined,
): Promise<ReadFile> {
  const input = await openInput(path, (bytes, size) => reading.onRead?.(path, bytes, size));
  try {
    const format = await recogniseFormat(input.source, [path], reading);
    onFormat(format);
    const reader = contentReader(reading.digestEntries);
    const signable = await format.open(input.source, reader, path);
    return { path, format, source: input.source, signable, budget: reader.budget, [Symbol.asyncDispose]: input.close };
  } catch (thrown) {
    await input.close();
    throw thrown;
  }
}

function sentence({ message }: CodesignError): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
