/** Finishes the work of earlier runs without new signatures: writes missing files, and sends reports. */

import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { Journal, UnfinishedCall } from '../../journal/journal.ts';
import type { ReplacedExtra } from '../../options/extra.ts';
import { isServiceId } from '../../service/answer.ts';
import type { SigningService } from '../../service/signing-service.ts';
import { signingErrors, signingWarnings } from '../errors.ts';
import { resolveTarget } from '../files/target.ts';
import type { FileOutcome } from '../outcome.ts';
import type { Disk } from '../run.ts';
import { sentFileName } from '../service/account.ts';
import type { ResumedCall } from './resumed-call.ts';
import { type CreateSigning, writeFiles } from './write-files.ts';

export interface ResumeIdentity {
  readonly origin: string;
  readonly client: string;
  /** SHA-256 of the certificate as hex digits; undefined until a certificate is needed. */
  readonly leaf: string | undefined;
}

/** `wait`: another process is working on the call. `settle`: the user must decide what happens to the call. */
export type NextAction = 'write' | 'report' | 'wait' | 'settle';

export interface PlannedCall {
  readonly call: UnfinishedCall;
  readonly next: NextAction;
  readonly error: CodesignError | undefined;
}

const NEXT_ACTIONS = {
  unwritten: 'write',
  unreported: 'report',
  surplus: 'report',
  'under-way': 'wait',
  unknown: 'settle',
} as const;

export function planCall(call: UnfinishedCall, given: ResumeIdentity | undefined): PlannedCall {
  const next = isUnusable(call) ? 'settle' : NEXT_ACTIONS[call.kind];
  return { call, next, error: next === 'wait' || next === 'settle' ? undefined : reasonNotResumable(call, given) };
}

function reasonNotResumable(
  { work, metadata, kind }: UnfinishedCall,
  given: ResumeIdentity | undefined,
): CodesignError | undefined {
  if (given === undefined) return signingErrors('service-not-named', { origin: work.origin });
  if (work.origin !== given.origin) return signingErrors('other-service', { origin: work.origin });
  if (metadata.client !== given.client) return signingErrors('other-credentials');
  if (kind === 'unwritten' && given.leaf !== undefined && metadata.certificate.sha256 !== given.leaf) {
    return signingErrors('other-certificate', { certificate: metadata.certificate.name });
  }
  return undefined;
}

/** The user must sign with the right certificate, which uses the signature, or discard it. */
export function isUnusable({ kind, files }: UnfinishedCall): boolean {
  return kind === 'unwritten' && files.every(({ written, unusable }) => written || unusable);
}

export interface Resuming {
  readonly journal: Journal;
  readonly service: SigningService;
  readonly createSigning: CreateSigning;
  /** If false, due reports are dropped. */
  readonly report: boolean;
  /** Decides which file names the audit log contains. */
  readonly extra: ReplacedExtra;
  readonly concurrency: number;
  readonly failedReports: ReadonlyMap<string, CodesignError>;
}

export interface Forgetting extends Pick<Resuming, 'extra'> {
  readonly journal: Pick<Journal, 'forget' | 'reported'>;
  readonly service: SigningService | undefined;
}

export function listCalls(calls: readonly UnfinishedCall[], given: ResumeIdentity | undefined): readonly ResumedCall[] {
  return calls.map((call) => leftCall(planCall(call, given)));
}

export async function resumeCalls(
  calls: readonly UnfinishedCall[],
  given: ResumeIdentity,
  resuming: Resuming,
  signal?: AbortSignal,
): Promise<readonly ResumedCall[]> {
  const { journal, createSigning } = resuming;
  const planned = calls.map((call) => planCall(call, given));
  const going = (next: PlannedCall['next']) =>
    planned.flatMap((one) => (one.next === next && one.error === undefined ? [one.call] : []));
  const outcomes = await writeFiles(going('write'), journal, createSigning, signal);
  const failed = await sendReports(going('report'), resuming, signal);
  // Other processes may have finished some calls in the meantime.
  const open = new Map((await journal.unfinished()).map((call) => [call.id, call]));
  return planned.map((one) => {
    if (one.next === 'wait' || one.next === 'settle' || one.error !== undefined) return leftCall(one);
    const now = open.get(one.call.id);
    if (now === undefined) return { call: one.call, status: 'finished', error: undefined };
    const error = failed.get(one.call.id) ?? whyOpen(now, outcomes, resuming.failedReports);
    return { call: one.call, status: error.code === 'not-attempted' ? 'left' : 'failed', error };
  });
}

/** Throws `no-such-call` or `call-under-way`, if possible before it discards any call. */
export async function forgetCalls(
  ids: readonly string[],
  calls: readonly UnfinishedCall[],
  given: ResumeIdentity | undefined,
  forgetting: Forgetting,
  warn: (sentence: string) => void,
): Promise<readonly ResumedCall[]> {
  const named = calls.filter(({ id }) => ids.includes(id));
  for (const { id, kind } of named) if (kind === 'under-way') throw signingErrors('call-under-way', { id });
  for (const id of ids) {
    if (named.some((call) => call.id === id)) continue;
    // Even if the call has ended, its record that a certificate did not match can be discarded.
    if ((await forgetting.journal.forget(id)) === 'not-found') throw signingErrors('no-such-call', { id });
    warn(signingWarnings('mismatch-forgotten', { id }));
  }
  const forgotten: ResumedCall[] = [];
  for (const call of named) forgotten.push(await forgetCall(call, given, forgetting, warn));
  return forgotten;
}

async function forgetCall(
  call: UnfinishedCall,
  given: ResumeIdentity | undefined,
  { journal, service, extra }: Forgetting,
  warn: (sentence: string) => void,
): Promise<ResumedCall> {
  const { id } = call;
  const status = call.files.some(({ written }) => written) ? 1 : 2;
  const mine = given !== undefined && given.origin === call.work.origin && given.client === call.metadata.client;
  const isWanted = mine && call.files.some(({ signingOptions }) => signingOptions.report);
  const record = isWanted && service !== undefined ? call.record : undefined;
  // Committed before the report: no process may use a signature that was reported as unused.
  const outcome = await journal.forget(id, record === undefined ? undefined : status);
  if (outcome === 'under-way') throw signingErrors('call-under-way', { id });
  if (outcome === 'forgotten' && record !== undefined) {
    try {
      await service?.report(record, status, undefined, sentFileName(extra, call.metadata.file));
      await journal.reported(id, status);
    } catch (thrown) {
      warn(signingWarnings('forgotten-not-reported', { id, reason: toCodesignError(thrown).message }));
    }
  }
  return { call, status: 'forgotten', error: undefined };
}

function leftCall({ call, error }: PlannedCall): ResumedCall {
  return { call, status: 'left', error };
}

async function sendReports(
  calls: readonly UnfinishedCall[],
  { journal, service, report, concurrency, extra }: Resuming,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, CodesignError>> {
  const failed = new Map<string, CodesignError>();
  const limit = pLimit(concurrency);
  const send = async ({ id, record, metadata, reportDue = 1 }: UnfinishedCall): Promise<void> => {
    try {
      const isWanted = report && record !== undefined && isServiceId(record);
      if (isWanted) await service.report(record, reportDue, signal, sentFileName(extra, metadata.file));
      await journal.reported(id, isWanted ? reportDue : 'not-wanted');
    } catch (thrown) {
      failed.set(id, toCodesignError(thrown));
    }
  };
  await Promise.all(calls.map((call) => limit(() => send(call))));
  return failed;
}

function whyOpen(
  { files, record }: UnfinishedCall,
  outcomes: ReadonlyMap<string, FileOutcome>,
  failedReports: ReadonlyMap<string, CodesignError>,
): CodesignError {
  for (const { written, signingOptions } of files) {
    const outcome = written ? undefined : outcomes.get(signingOptions.path);
    if (outcome?.status === 'failed') return outcome.error;
  }
  const unsent = files.every(({ written }) => written) ? failedReports.get(record ?? '') : undefined;
  // A later version of the file at this path may have got a signature of its own.
  return unsent ?? signingErrors('changed-since');
}

/** Removes the temporary files of killed processes from the folders of all outputs of the calls. Never throws. */
export async function removeStaleFilesOf(
  calls: readonly UnfinishedCall[],
  { removeStaleFiles }: Pick<Disk, 'removeStaleFiles'>,
): Promise<void> {
  const outputs = calls.flatMap(({ files }) => files.map(({ signingOptions }) => signingOptions.output));
  for (const output of new Set(outputs)) {
    // The temporary file was next to the target of a link.
    const target = await resolveTarget(output).catch(() => output);
    await removeStaleFiles?.(dirname(target));
  }
}
