/** An operator's command, for functions that record it in the audit. */

import type { Operation } from '../../src/records/audit.ts';

export function operationAt(at: Date, command = 'init'): Operation {
  return { at, operator: 'tests', host: 'here', command, details: '' };
}
