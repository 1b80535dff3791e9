/** Detects that the process was suspended or the machine slept, so that servers may have closed the connections. */

const TICK_MILLISECONDS = 500;
/** The longest idle time of a connection, plus one tick. */
const STANDSTILL_MILLISECONDS = 2400;

/** Uses the time of day, because other clocks stop while the machine sleeps. */
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
