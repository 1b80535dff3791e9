/** Clocks for spans of time. They cost nothing: Node loads nine of its modules for `performance`. */

/** Milliseconds since this process began, with fractions. */
export function clock(): number {
  return process.uptime() * 1000;
}

/** A clock that begins at 0, for a run that begins now in a process that began earlier. */
export function clockFromNow(): () => number {
  const began = clock();
  return () => clock() - began;
}
