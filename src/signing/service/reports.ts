import pLimit from 'p-limit';
import { toCodesignError } from '../../errors/codesign-error.ts';
import type { ReportStatus, SigningService } from '../../service/signing-service.ts';
import type { FileOutcome, SigningEvent } from '../outcome.ts';
import type { EndedCall } from './call.ts';
import { type ClientInfo, sentFileName } from './client-info.ts';

export type Reports = ReturnType<typeof reportTo>;

interface ReportsOptions {
  /** Undefined if the user wants no reports. */
  readonly service: SigningService | undefined;
  /** Reports under way concurrently: they share the connections with the calls for signatures. */
  readonly concurrency: number;
  readonly onEvent: (event: SigningEvent) => void;
  readonly client: Pick<ClientInfo, 'replaced'>;
  /** When it aborts, no report is sent or waited for: the journal keeps them for another run. */
  readonly signal: AbortSignal | undefined;
}

interface Sent {
  readonly status: ReportStatus;
  readonly arrival: Promise<boolean>;
}

/** Reports each status of a record once: several files of a run may share a signature. */
export function reportTo(options: ReportsOptions) {
  const { service, concurrency, onEvent, client, signal } = options;
  const limit = pLimit(concurrency);
  const sent = new Map<string, Sent>();
  /** Records that the service does not know yet, of each file. */
  const started = new Map<FileOutcome, Promise<readonly (string | undefined)[]>>();

  async function deliver(to: SigningService, path: string, record: string, status: ReportStatus, before?: Sent) {
    // Reports of one record must not overtake one another: the last one counts.
    await before?.arrival;
    try {
      await limit(() => to.report(record, status, signal, sentFileName(client.replaced, path)));
      return true;
    } catch (thrown) {
      onEvent({ type: 'report-failed', path, record, error: toCodesignError(thrown) });
      return false;
    }
  }

  /** Resolves when the report has arrived, or has failed: that never makes a signed file count as failed. */
  async function send(path: string, { claim, record, status }: EndedCall): Promise<void> {
    if (status === undefined) return;
    // Without an id there is nothing to name.
    if (service === undefined || record === undefined) return await claim.reported('not-wanted');
    const before = sent.get(record);
    if (before?.status === status) return;
    const arrival = deliver(service, path, record, status, before);
    sent.set(record, { status, arrival });
    // A report that the journal cannot record is sent again by a later run, which never counts.
    if (await arrival) await claim.reported(status);
  }

  async function isKnown(record: string | undefined): Promise<boolean> {
    const last = sent.get(record ?? '');
    return last?.status === 1 && (await last.arrival);
  }

  return {
    /** Sends what is due once the calls have ended, without waiting. */
    start(outcome: FileOutcome, ending: Promise<readonly EndedCall[]>): void {
      started.set(
        outcome,
        // This stays until the end of the run, so it keeps nothing of the calls.
        ending.then(async (calls) => {
          const unreported = calls.flatMap(({ isReported, record }) => (isReported ? [] : [record]));
          await Promise.all(calls.map((call) => send(outcome.path, call)));
          return unreported;
        }),
      );
    },

    /** Waits for the reports of the run. Returns the outcomes with what the service knows. */
    async finish(outcomes: readonly FileOutcome[]): Promise<readonly FileOutcome[]> {
      await Promise.all(started.values());
      return await Promise.all(
        outcomes.map(async (outcome) => {
          const unreported = await started.get(outcome);
          const isSigned = outcome.status === 'signed' || outcome.status === 'unchanged';
          if (!isSigned || unreported === undefined) return outcome;
          // The last file with the same record sent the report.
          const known = await Promise.all(unreported.map(isKnown));
          return known.every(Boolean) ? { ...outcome, reported: true } : outcome;
        }),
      );
    },
  };
}
