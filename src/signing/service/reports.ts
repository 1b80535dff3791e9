import pLimit from 'p-limit';
import { toCodesignError } from '../../errors/codesign-error.ts';
import type { ReportStatus, SigningService } from '../../service/signing-service.ts';
import type { FileOutcome, SigningEvent } from '../outcome.ts';
import { type ClientInfo, sentFileName } from './account.ts';
import type { EndedCall } from './call.ts';

export type Reports = ReturnType<typeof reportTo>;

interface ReportsOptions {
  readonly service: SigningService | undefined;
  readonly concurrency: number;
  readonly onEvent: (event: SigningEvent) => void;
  readonly client: Pick<ClientInfo, 'replaced'>;
  /** Aborting the signal ends all reports; the journal keeps them for another run. */
  readonly signal: AbortSignal | undefined;
}

/** Reports each status of a record only once, because several files of a run may have the same signature. */
export function reportTo(options: ReportsOptions) {
  const { service, concurrency, onEvent, client, signal } = options;
  const limit = pLimit(concurrency);
  const sent = new Map<string, { readonly status: ReportStatus; readonly arrival: Promise<boolean> }>();
  /** For each file, the records that have not yet been reported to the service. */
  const started = new Map<FileOutcome, Promise<readonly (string | undefined)[]>>();

  async function deliver(to: SigningService, path: string, record: string, status: ReportStatus) {
    // The reports of a record must arrive in order, because the service keeps the last one.
    await sent.get(record)?.arrival;
    try {
      await limit(() => to.report(record, status, signal, sentFileName(client.replaced, path)));
      return true;
    } catch (thrown) {
      onEvent({ type: 'report-failed', path, record, error: toCodesignError(thrown) });
      return false;
    }
  }

  /** Resolves when the report has arrived or failed. */
  async function send(path: string, { claim, record, status }: EndedCall): Promise<void> {
    if (status === undefined || record === undefined) return;
    if (service === undefined) return await claim.reported('not-wanted');
    if (sent.get(record)?.status === status) return;
    const arrival = deliver(service, path, record, status);
    sent.set(record, { status, arrival });
    // If the journal cannot record this, a later run sends the report again, which is harmless.
    if (await arrival) await claim.reported(status);
  }

  async function isKnown(record: string | undefined): Promise<boolean> {
    const last = sent.get(record ?? '');
    return last?.status === 1 && (await last.arrival);
  }

  return {
    start(outcome: FileOutcome, ending: Promise<readonly EndedCall[]>): void {
      started.set(
        outcome,
        // Releases the calls, because this map exists until the end of the run.
        ending.then(async (calls) => {
          const unreported = calls.flatMap(({ isReported, record }) => (isReported ? [] : [record]));
          await Promise.all(calls.map((call) => send(outcome.path, call)));
          return unreported;
        }),
      );
    },

    async finish(outcomes: readonly FileOutcome[]): Promise<readonly FileOutcome[]> {
      await Promise.all(started.values());
      return await Promise.all(
        outcomes.map(async (outcome) => {
          const unreported = await started.get(outcome);
          const isSigned = outcome.status === 'signed' || outcome.status === 'unchanged';
          if (!isSigned || unreported === undefined) return outcome;
          // Of the files with the same record, only the last one sent the report.
          const known = await Promise.all(unreported.map(isKnown));
          return known.every(Boolean) ? { ...outcome, reported: true } : outcome;
        }),
      );
    },
  };
}
