import { cmsErrors } from './errors.ts';

/** A signature has about ten attributes and values; 64 nested ones have 640. */
const MAX_ATTRIBUTES_AND_VALUES = 4000;
/** Each signature has about four certificates of less than 2 KiB, without those of its timestamps. */
const MAX_CERTIFICATES = 300;
const USUAL_LENGTH = 2048;

export type TakeAttributes = (count: number) => void;

export function limitAttributes(): TakeAttributes {
  return limited(MAX_ATTRIBUTES_AND_VALUES, 'attributes and values in all');
}

/** Remaining limits of a file, which all its signatures consume together. Both functions throw `cms-too-large`. */
export type CmsBudget = ReturnType<typeof cmsBudget>;

export function cmsBudget() {
  const take = limited(MAX_CERTIFICATES, 'certificates in all');
  return {
    takeAttributes: limitAttributes(),
    takeCertificates: ({ certificates }: { readonly certificates: readonly Uint8Array[] }): void => {
      for (const { length } of certificates) take(Math.ceil(length / USUAL_LENGTH));
    },
  };
}

function limited(limit: number, what: string): (count: number) => void {
  let left = limit;
  return (count) => {
    left -= count;
    if (left < 0) throw cmsErrors('cms-too-large', { limit, what });
  };
}
