/** What can go wrong when reading ASN.1. */

import { defineErrors } from '../errors/define-errors.ts';

export const asn1Errors = defineErrors({
  'asn1-malformed': {
    category: 'local',
    message: (d: { what: string; problem: string; offset: number }) =>
      `${d.what}: ${d.problem} (at byte ${d.offset} of the encoding)`,
    hint: 'The data is damaged, or of another type than expected.',
  },
});
