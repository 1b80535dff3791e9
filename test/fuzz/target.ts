/** What a target is: a part of the program that reads foreign bytes, and where such bytes come from. */

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bases } from './bases.ts';
import type { Random } from './mutations/random.ts';

export interface Target {
  /** One case. All of it is in these bytes, so that they can be kept and run again. */
  make(random: Random): Uint8Array;
  /**
   * Gives the bytes to everything that reads them. Gives what came of it in a word, for the counts; throws when
   * something came that must not.
   */
  run(input: Uint8Array): Promise<string>;
}

export interface TargetSetting {
  readonly bases: Bases;
  readonly folder: string;
  /** False if cases are only run: then what takes long, and is needed to make cases, stays away. */
  readonly makesCases: boolean;
  /** Takes results that other programs are to check; most are let go. */
  readonly sample: (extension: string, bytes: Uint8Array) => void;
}

export interface TargetDefinition {
  /** Of a hundred thousand cases, how many: those that cost little get more. */
  readonly share: number;
  open(setting: TargetSetting): Promise<Target>;
}

/** Runs one case with an empty folder below the given one. */
export async function inFolderOfItsOwn<T>(folder: string, work: (place: string) => Promise<T>): Promise<T> {
  const place = await mkdtemp(join(folder, 'case-'));
  try {
    return await work(place);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
