/** The Retry-After header (RFC 9110, section 10.2.3): seconds, or a date. */

/** A date may have a comma after its day; elsewhere a comma separates the values of several headers. */
const VALUES = /\s*[A-Za-z]{3,9}, \d[^,]*[A-Za-z][^,]*|[^,]+/g;

/**
 * The wait asked for, in milliseconds and not below 0: the longest of several. Undefined when the header is absent or not
 * understood.
 *
 * @param header the values of all such headers, joined with commas
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  let longest: number | undefined;
  for (const value of header?.match(VALUES) ?? []) {
    const wait = readOne(value.trim(), now);
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}

function readOne(text: string, now: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Only what looks like an HTTP date: Date.parse would read "-5" as a year.
  const date = /^[A-Za-z]{3,9},? .*\d{2}:\d{2}:\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
