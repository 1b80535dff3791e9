import { cmsErrors } from './errors.ts';

/** A signature has about ten of both; 64 nested ones have 640. */
const MAX_ATTRIBUTES_AND_VALUES = 4000;
/** Each signature has about four, without those of its timestamps, of less than 2 KiB. */
const MAX_CERTIFICATES = 300;
const USUAL_LENGTH = 2048;

/** Counts attributes or values. Throws `cms-too-large` above the limit. */
export type TakeAttributes = (count: number) => void;

export function limitAttributes(): TakeAttributes {
  let left = MAX_ATTRIBUTES_AND_VALUES;
  return (count) => {
    left -= count;
    const what = 'attributes and values in all';
    if (left < 0) throw cmsErrors('cms-too-large', { limit: MAX_ATTRIBUTES_AND_VALUES, what });
  };
}

/** Counts the certificates of a signature. Throws `cms-too-large` above the limit. */
type TakeCertificates = (signedData: { readonly certificates: readonly Uint8Array[] }) => void;

function limitCertificates(): TakeCertificates {
  let left = MAX_CERTIFICATES;
  return ({ certificates }) => {
    for (const { length } of certificates) left -= Math.ceil(length / USUAL_LENGTH);
    if (left < 0) throw cmsErrors('cms-too-large', { limit: MAX_CERTIFICATES, what: 'certificates in all' });
  };
}

/** What is left of the limits on a file: its signatures use it up together. */
export interface CmsBudget {
  readonly takeAttributes: TakeAttributes;
  readonly takeCertificates: TakeCertificates;
}

export function cmsBudget(): CmsBudget {
  return { takeAttributes: limitAttributes(), takeCertificates: limitCertificates() };
}
