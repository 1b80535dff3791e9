/** An access key as it is shown: enough to tell it from others, not enough to use it. */

const SHOWN = 4;
/** What is shown of a shorter one would be most of it. */
const SHORT = 12;

export function maskedKey(accessKey: string): string {
  return accessKey.length < SHORT ? '****' : `${accessKey.slice(0, SHOWN)}…${accessKey.slice(-SHOWN)}`;
}
