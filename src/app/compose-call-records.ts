/** Who hears of each call to the service: whoever follows the run, and the audit log. */

import type { CallRecord } from '../service/call-record.ts';
import { openAuditLog } from '../service/call-record.ts';
import type { SigningEvent } from '../signing/outcome.ts';

export interface CallRecords {
  readonly onCall: (record: CallRecord) => void;
  /** Whole sentences; grows as things are found. */
  readonly warnings: readonly string[];
}

/** Throws `audit-log-unusable`. */
export function composeCallRecords(auditLog: string | undefined, onEvent: (event: SigningEvent) => void): CallRecords {
  const log = auditLog === undefined ? undefined : openAuditLog(auditLog);
  return {
    onCall(record) {
      log?.write(record);
      onEvent({ type: 'service-called', call: record });
    },
    warnings: log?.warnings ?? [],
  };
}
