/**
 * Detects that the process was suspended or that the machine slept, because servers may have closed the connections
 * meanwhile.
 */

const TICK_MILLISECONDS = 500;
/** The longest time for which a connection may be idle, plus one tick. */
const STANDSTILL_MILLISECONDS = 2400;

/** Uses the time of day, because other clocks stop when the machine sleeps. */
export function watchStandstills(onStandstill: () => void) {
  let last = Date.now();
  const look = (): void => {
    const now = Date.now();
    const isLate = now - last > STANDSTILL_MILLISECONDS;
    last = now;
    if (isLate) onStandstill();
  };
  const timer = setInterval(look, TICK_MILLISECONDS).unref();
  return {
    look,
    stop: (): void => clearInterval(timer),
  };
}
