/** The Retry-After header (RFC 9110, section 10.2.3): seconds, or a date. */

/** The wait asked for, in milliseconds and not below 0; undefined when the header is absent or not understood. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Only what looks like an HTTP date: Date.parse would read "-5" as a year.
  const date = /^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
