/** Milliseconds since this process started, with fractions. */

export function clock(): number {
  return process.uptime() * 1000;
}

/** Returns a clock for a run that begins later than its process. */
export function clockFromNow(): () => number {
  const began = clock();
  return () => clock() - began;
}
