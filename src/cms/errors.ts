import { defineErrors } from '../errors/define-errors.ts';

export const cmsErrors = defineErrors('local', {
  'cms-malformed': {
    message: "the signature's CMS structure is malformed: {problem}",
    hint: 'Remove the damaged signature, or build or download the file again.',
  },
  'cms-not-signed-data': {
    message: "the signature's CMS structure is of type {type}, not SignedData",
    hint: 'Remove the signature, or build or download the file again. The signature contains data of another type.',
    isUnsupported: true,
  },
  'cms-too-large': {
    message: "the signature's CMS structure contains more than {limit} {what}",
    hint: 'Do not trust this signature. No signing program creates such a signature. Remove the signature, or build or download the file again.',
    isUnsupported: true,
  },
  'cms-without-signer': {
    message: "the signature's CMS structure has no signer",
    hint: 'Remove the CMS structure before signing. This structure contains only certificates.',
    isUnsupported: true,
  },
});
