/** How times are told to programs. */

/** ISO 8601 in UTC, without the fraction where there is none. */
export function isoTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
