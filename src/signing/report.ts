/** Telling the service how each file ended (report-sign), without holding up the files that follow. */

import { toCodesignError } from '../errors/codesign-error.ts';
import type { ReportStatus, SigningService } from '../service/signing-service.ts';
import type { SigningEvent } from './outcome.ts';

export interface Reports {
  /** Whether the report arrived. A failed one never makes a signed file count as failed. */
  send(path: string, record: string | undefined, status: ReportStatus): Promise<boolean>;
}

export function reportTo(service: SigningService, onEvent: (event: SigningEvent) => void): Reports {
  return {
    async send(path, record, status) {
      if (record === undefined) return false;
      try {
        await service.report(record, status);
        return true;
      } catch (thrown) {
        onEvent({ type: 'report-failed', path, record, error: toCodesignError(thrown) });
        return false;
      }
    },
  };
}

/** For runs that shall not report. */
export const noReports: Reports = { send: async () => false };
