// Ends this process as SIGTERM would when the one that started it is gone: npm killed outright passes no signal on.

/** How often to look, in milliseconds. */
const INTERVAL = 500;

/** Watches the process with this id, which must be this one's parent. */
export function endWithParent(parent) {
  const watch = setInterval(() => {
    if (isThere(parent)) return;
    clearInterval(watch);
    // Nobody listens while it still sets up or builds: then the signal's own way to end is right.
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
