import pLimit from 'p-limit';
import { toCodesignError } from '../../errors/codesign-error.ts';
import type { Claim, Reported } from '../../journal/journal.ts';
import type { ReportStatus, SigningService } from '../../service/signing-service.ts';
import type { SigningEvent } from '../outcome.ts';
import { noted } from './call.ts';
import { type ClientInfo, sentFileName } from './client-info.ts';

export type Reports = ReturnType<typeof reportTo>;

interface ReportsOptions {
  /** Undefined if the user wants no reports. */
  readonly service: SigningService | undefined;
  /** Reports under way concurrently: they share the connections with the calls for signatures. */
  readonly concurrency: number;
  readonly onEvent: (event: SigningEvent) => void;
  readonly client: Pick<ClientInfo, 'replaced'>;
  /** When it aborts, each report still goes out, once. */
  readonly signal: AbortSignal | undefined;
}

interface Sent {
  readonly status: ReportStatus;
  readonly arrival: Promise<boolean>;
}

/** Of one record, the same is sent once: several files of a run may share a signature. */
export function reportTo(options: ReportsOptions) {
  const { service, concurrency, onEvent, client, signal } = options;
  const limit = pLimit(concurrency);
  const sent = new Map<string, Sent>();

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

  return {
    /** Resolves when the report has arrived, or has failed: that never makes a signed file count as failed. Recorded in `claim`. */
    async send(
      path: string,
      record: string | undefined,
      status: ReportStatus,
      claim: Claim | undefined,
    ): Promise<void> {
      // Without an id there is nothing to name.
      if (service === undefined || record === undefined) {
        await settle(claim, 'not-wanted');
        return;
      }
      const before = sent.get(record);
      if (before?.status === status) return;
      const arrival = deliver(service, path, record, status, before);
      sent.set(record, { status, arrival });
      if (await arrival) await settle(claim, status);
    },

    /** Whether 1 was reported of the record. To be called when every file of the run has sent its reports. */
    async isKnown(record: string | undefined): Promise<boolean> {
      const last = sent.get(record ?? '');
      return last?.status === 1 && (await last.arrival);
    },
  };
}

/** A report that the journal cannot record is sent again by a later run, which never counts. */
async function settle(claim: Claim | undefined, reported: Reported): Promise<void> {
  await noted(async () => claim?.reported(reported));
}
