/** A bound on the attributes of all signatures of a file together, and on their values: each costs memory while it is held. */

import { cmsErrors } from './errors.ts';

/** A signature has about ten of both; 64 nested ones have 640. */
const MAX_ATTRIBUTES_AND_VALUES = 4000;

/** Takes the room that so many attributes or values need. Throws `cms-too-large` when there is no more. */
export type TakeAttributes = (count: number) => void;

/** For the signatures of one file. */
export function roomForAttributes(): TakeAttributes {
  let left = MAX_ATTRIBUTES_AND_VALUES;
  return (count) => {
    left -= count;
    const what = 'attributes and values in all';
    if (left < 0) throw cmsErrors('cms-too-large', { limit: MAX_ATTRIBUTES_AND_VALUES, what });
  };
}
