/** Telling the service how each file ended (report-sign), without holding up the files that follow. */

import pLimit from 'p-limit';
import { toCodesignError } from '../errors/codesign-error.ts';
import type { Claim, Reported } from '../journal/journal.ts';
import type { ReportStatus, SigningService } from '../service/signing-service.ts';
import { noted } from './call.ts';
import type { SigningEvent } from './outcome.ts';

export interface Reports {
  /** Whether the report arrived. A failed one never makes a signed file count as failed. `claim` is told. */
  send(path: string, record: string | undefined, status: ReportStatus, claim: Claim | undefined): Promise<boolean>;
}

export interface ReportsOptions {
  readonly service: SigningService;
  /** Reports under way at once: they share the connections with the calls for signatures. */
  readonly concurrency: number;
  readonly onEvent: (event: SigningEvent) => void;
  /** When it aborts, each report still goes out, once. */
  readonly signal: AbortSignal | undefined;
}

export function reportTo({ service, concurrency, onEvent, signal }: ReportsOptions): Reports {
  const limit = pLimit(concurrency);
  return {
    async send(path, record, status, claim) {
      // Without an id there is nothing to name.
      if (record === undefined) {
        await settle(claim, 'not-wanted');
        return false;
      }
      try {
        await limit(() => service.report(record, status, signal));
        await settle(claim, status);
        return true;
      } catch (thrown) {
        onEvent({ type: 'report-failed', path, record, error: toCodesignError(thrown) });
        return false;
      }
    },
  };
}

/** For runs that shall not report. */
export const noReports: Reports = {
  async send(_path, _record, _status, claim) {
    await settle(claim, 'not-wanted');
    return false;
  },
};

/** A journal that cannot note a report has it sent again, which never counts. */
async function settle(claim: Claim | undefined, reported: Reported): Promise<void> {
  await noted(
    async () => claim?.reported(reported),
    () => undefined,
  );
}
