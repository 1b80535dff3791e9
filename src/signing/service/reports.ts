/** Telling the service how each file ended (report-sign), without holding up the files that follow. */

import pLimit from 'p-limit';
import { toCodesignError } from '../../errors/codesign-error.ts';
import type { Claim, Reported } from '../../journal/journal.ts';
import type { ReportStatus, SigningService } from '../../service/signing-service.ts';
import type { SigningEvent } from '../outcome.ts';
import { noted } from './call.ts';
import { type ClientDescription, maskFilename } from './client-info.ts';

export interface Reports {
  /** Resolves when the report has arrived, or has failed: that never makes a signed file count as failed. `claim` is told. */
  send(path: string, record: string | undefined, status: ReportStatus, claim: Claim | undefined): Promise<void>;
  /** Whether the service was told 1 of the record: asked when every file of the run has sent what it had to. */
  isKnown(record: string | undefined): Promise<boolean>;
}

export interface ReportsOptions {
  readonly service: SigningService;
  /** Reports under way at once: they share the connections with the calls for signatures. */
  readonly concurrency: number;
  readonly onEvent: (event: SigningEvent) => void;
  readonly client: Pick<ClientDescription, 'mask'>;
  /** When it aborts, each report still goes out, once. */
  readonly signal: AbortSignal | undefined;
}

interface Sent {
  readonly status: ReportStatus;
  readonly arrival: Promise<boolean>;
}

/** Of one record, the same is sent once: several files of a run may share a signature. */
export function reportTo({ service, concurrency, onEvent, client, signal }: ReportsOptions): Reports {
  const limit = pLimit(concurrency);
  const sent = new Map<string, Sent>();

  async function deliver(path: string, record: string, status: ReportStatus, before: Sent | undefined) {
    // Reports of one record must not overtake one another: the last one counts.
    await before?.arrival;
    try {
      await limit(() => service.report(record, status, signal, maskFilename(client.mask, path)));
      return true;
    } catch (thrown) {
      onEvent({ type: 'report-failed', path, record, error: toCodesignError(thrown) });
      return false;
    }
  }

  return {
    async send(path, record, status, claim) {
      // Without an id there is nothing to name.
      if (record === undefined) {
        await settle(claim, 'not-wanted');
        return;
      }
      const before = sent.get(record);
      if (before?.status === status) return;
      const arrival = deliver(path, record, status, before);
      sent.set(record, { status, arrival });
      if (await arrival) await settle(claim, status);
    },
    async isKnown(record) {
      const last = sent.get(record ?? '');
      return last?.status === 1 && (await last.arrival);
    },
  };
}

/** For runs that shall not report. */
export const noReports: Reports = {
  async send(_path, _record, _status, claim) {
    await settle(claim, 'not-wanted');
  },
  isKnown: async () => false,
};

/** A journal that cannot note a report has it sent again, which never counts. */
async function settle(claim: Claim | undefined, reported: Reported): Promise<void> {
  await noted(
    async () => claim?.reported(reported),
    () => undefined,
  );
}
