/** What can go wrong with any format's file: refusals that have the same meaning for all of them. */

import { defineErrors } from '../errors/define-errors.ts';

export const formatErrors = defineErrors({
  'cannot-append': {
    category: 'local',
    message: (d) => `a signature cannot stand beside the ones in this file: ${d.reason}`,
    hint: 'Use --replace to put the new signature in the place of the old ones.',
  },
  'result-damaged': {
    category: 'local',
    message: (d) => `the signed file is not as it should be: ${d.reason}`,
    hint: 'The original was left as it was. Another program, or a failing disk, may have changed the copy: try again.',
  },
});
