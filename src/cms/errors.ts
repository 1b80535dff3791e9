/** What can be wrong with a CMS structure. */

import { defineErrors } from '../errors/define-errors.ts';

export const cmsErrors = defineErrors('local', {
  'cms-malformed': {
    message: "the signature's CMS structure is malformed: {problem}",
    hint: 'The signature is damaged. Remove it, or build or download the file again.',
  },
  'cms-not-signed-data': {
    message: "the signature's CMS structure is of type {type}, not SignedData",
    hint: 'The file holds other data where its signature should be.',
  },
  'cms-too-large': {
    message: "the signature's CMS structure holds more than {limit} {what}",
    hint: 'No signing program creates such a signature: do not trust it. Remove it, or build or download the file again.',
  },
  'cms-without-signer': {
    message: "the signature's CMS structure has no signer",
    hint: 'It holds only certificates. Remove it before signing.',
  },
});
