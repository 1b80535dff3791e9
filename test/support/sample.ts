/** `npm run test:long` runs all of its campaigns; where there is less time, CODESIGN_TEST_ONE_IN says of how many like cases one is run. */

const ONE_IN = Number(process.env.CODESIGN_TEST_ONE_IN ?? 1);

/** Whether the case with this number, from 0, is one of the sample. */
export function isInSample(index: number): boolean {
  return index % ONE_IN === 0;
}
