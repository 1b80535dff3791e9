/**
 * `npm run test:long` runs all of its campaigns. Where there is less time, CODESIGN_TEST_ONE_IN says of how many similar cases, or
 * tests that take minutes, one is run. Each day has another sample, so that all of them are run in as many days.
 */

export const ONE_IN = Number(process.env.CODESIGN_TEST_ONE_IN ?? 1);

const DAY_MILLISECONDS = 86_400_000;
const today = Math.floor(Date.now() / DAY_MILLISECONDS);

/** True if the case with this number, from 0, is in the sample. With `times` 2, it is one of ONE_IN * ONE_IN cases. */
export function isInSample(index: number, times = 1): boolean {
  return (index + today) % ONE_IN ** times === 0;
}
