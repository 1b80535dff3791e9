/** What can be wrong with a CMS structure. */

import { defineErrors } from '../errors/define-errors.ts';

export const cmsErrors = defineErrors({
  'cms-malformed': {
    category: 'local',
    message: (d: { problem: string }) => `the signature's CMS structure is malformed: ${d.problem}`,
    hint: 'The signature is damaged. Remove it, or build or download the file again.',
  },
  'cms-not-signed-data': {
    category: 'local',
    message: (d: { type: string }) => `the signature's CMS structure is of type ${d.type}, not SignedData`,
    hint: 'The file holds other data where its signature should be.',
  },
  'cms-too-large': {
    category: 'local',
    message: (d: { limit: number; what: string }) =>
      `the signature's CMS structure holds more than ${d.limit} ${d.what}`,
    hint: 'No signing program creates such a signature: do not trust it. Remove it, or build or download the file again.',
  },
  'cms-without-signer': {
    category: 'local',
    message: "the signature's CMS structure has no signer",
    hint: 'It holds only certificates. Remove it before signing.',
  },
});
