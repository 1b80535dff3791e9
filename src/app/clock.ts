/** Milliseconds since this process started, including fractions. */

export function clock(): number {
  return process.uptime() * 1000;
}

/** Returns a clock that starts at 0, for a run that begins later than its process. */
export function clockFromNow(): () => number {
  const began = clock();
  return () => clock() - began;
}
