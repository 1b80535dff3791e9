/** Lines that this process has read lately: the file of a call is read again with each of its steps, and changes by one line. */

import { readStep, type Step } from './steps.ts';

/** Of all calls that are under way at once, and no more memory than they are worth: a line is a kilobyte at most. */
const MOST_LINES = 512;

/** What `readStep` gives, read once. */
export function rememberSteps(): (line: string) => Step | undefined {
  const known = new Map<string, Step>();
  return (line) => {
    const step = known.get(line) ?? readStep(line);
    if (step === undefined) return undefined;
    // The one not asked for longest is the first to go.
    known.delete(line);
    known.set(line, step);
    for (const oldest of known.size > MOST_LINES ? known.keys() : []) {
      known.delete(oldest);
      break;
    }
    return step;
  };
}
