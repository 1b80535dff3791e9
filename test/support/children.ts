/** Child processes that must not outlive this process, however it ends. */

import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

/** Kills the child when this process ends, unless it has ended before. */
export function endWithThisProcess(child: ChildProcess): void {
  if (children.size === 0) {
    process.once('exit', killAll);
    // Vitest ends its processes with this signal; without a handler Node.js would emit no `exit`.
    process.once('SIGTERM', onSignal);
  }
  children.add(child);
  child.once('exit', () => {
    children.delete(child);
    if (children.size > 0) return;
    process.off('exit', killAll);
    process.off('SIGTERM', onSignal);
  });
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

function onSignal(signal: NodeJS.Signals): void {
  killAll();
  process.kill(process.pid, signal);
}

/** Calls a function like `setTimeout`, but when a condition is true instead of after a time. */
export function asSoonAs<Given extends unknown[]>(
  isTime: () => boolean,
  act: (...given: Given) => void,
  ...given: Given
): void {
  const watch = setInterval(() => {
    if (!isTime()) return;
    clearInterval(watch);
    act(...given);
  }, 1);
}
