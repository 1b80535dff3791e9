/** A change to a file as data: the edits, in order, that turn the old bytes into the new ones. */

/** At `offset` of the original, `remove` bytes give way to `insert`. */
export interface Edit {
  readonly offset: number;
  readonly remove: number;
  readonly insert: Uint8Array;
}

/** Edits sorted by offset that do not overlap. */
export type Patch = readonly Edit[];
