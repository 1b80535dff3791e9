/** Notices that this process stood still, because it was stopped or the machine slept: what was connected may be forgotten. */

const TICK_MILLISECONDS = 500;
/** The time for which connections are kept idle, and a tick: no connection is idle for longer without a standstill. */
const STANDSTILL_MILLISECONDS = 2400;

/** By the time of day: others stop while the machine sleeps. A clock that is set forward counts too, and does no harm. */
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
    /** Looks without waiting for the next tick. */
    look,
    stop: (): void => clearInterval(timer),
  };
}
