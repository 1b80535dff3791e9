/** Who may decide where this process writes: its own user, and root. */

/** Of a file or link with this owner; true on Windows, which has no such numbers. */
export function isTrustedOwner(uid: number): boolean {
  const user = process.geteuid?.();
  return user === undefined || uid === user || uid === 0;
}
