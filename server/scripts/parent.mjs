// Ends this process as SIGTERM would when its parent has ended: npm forwards no signal if it is killed with SIGKILL.

/** Time between two checks, in milliseconds. */
const INTERVAL = 500;

/** Watches the process with this id, which must be this one's parent. */
export function endWithParent(parent) {
  const watch = setInterval(() => {
    if (isThere(parent)) return;
    clearInterval(watch);
    // There is no listener during set-up and build: then the signal ends the process.
    if (!process.emit('SIGTERM', 'SIGTERM')) process.exit(143);
  }, INTERVAL);
  watch.unref();
}

/** An orphan gets another parent, except on Windows. */
function isThere(parent) {
  if (process.ppid !== parent) return false;
  try {
    process.kill(parent, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}
