/** How a run shows what is going on: a live line, plain lines now and then, or not at all. */

import { cliErrors } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { columnsOf, isContinuousIntegration, isDumb, isTerminal } from '../terminal.ts';

export type ProgressMode = 'live' | 'plain' | 'none';

export interface ProgressOptions {
  readonly quiet: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** Fewer columns have no room for a line that says anything. */
export const LEAST_COLUMNS = 20;

/** Throws `progress-unknown`. */
export function progressMode({ stdout, stderr, env }: Io, { quiet, json, verbose }: ProgressOptions): ProgressMode {
  const wish = wishIn(env.CODESIGN_PROGRESS);
  if (quiet || wish === 'none') return 'none';
  // Not between the lines of a document that is read on the same terminal.
  const isFree = !(json && isTerminal(stdout));
  const isAble = isTerminal(stderr) && columnsOf(stderr) >= LEAST_COLUMNS && !isDumb(env);
  if (wish !== 'plain' && isFree && isAble && (wish === 'live' || !isContinuousIntegration(env))) return 'live';
  return wish === 'plain' || (wish === undefined && verbose && !isAble) ? 'plain' : 'none';
}

function wishIn(value: string | undefined): ProgressMode | undefined {
  switch (value) {
    case undefined:
    case '':
      return undefined;
    case 'live':
    case 'plain':
    case 'none':
      return value;
    default:
      throw cliErrors('progress-unknown', { value });
  }
}
