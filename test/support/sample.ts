/**
 * `npm run test:long` runs all of its campaigns. Where there is less time, CODESIGN_TEST_ONE_IN says of how many similar cases, or
 * tests that take minutes, one is run. Each day has another sample, so that all of them are run in as many days.
 */

export const ONE_IN = Number(process.env.CODESIGN_TEST_ONE_IN ?? 1);

const DAY_MILLISECONDS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MILLISECONDS);

/** Whether the case with this number, from 0, is one of the sample. `times`: how many times in a row it is one of so many. */
export function isInSample(index: number, times = 1): boolean {
  return (index + today) % ONE_IN ** times === 0;
}
