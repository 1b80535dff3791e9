import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { ServerError } from '../errors.ts';

export const EXPIRES = 'time of expiry, such as 2030-12-31 or 2030-12-31T18:00:00Z';
const MILLISECONDS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LARGEST_QUOTA = 2_000_000_000;

export function checked(option: string, value: string, pattern: RegExp, expected: string): string {
  if (!pattern.test(value)) throw new ServerError('invalid-option', { option, value, expected });
  return value;
}

export function chosen<T extends string | number>(option: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((known) => String(known) === value);
  if (choice !== undefined) return choice;
  throw new ServerError('invalid-option', { option, value, expected: `one of ${choices.join(', ')}` });
}

/** RFC 5280 limits the length of names in certificates. */
export function readName(option: string, value: string): string {
  return checked(option, value, /^[^\p{Cc}]{1,64}$/u, 'a name of 1 to 64 characters');
}

export function readQuota(option: string, value: string): number | undefined {
  if (value === 'none') return undefined;
  const quota = Number(value);
  if (!/^\d+$/.test(value) || quota > LARGEST_QUOTA) {
    throw new ServerError('invalid-option', { option, value, expected: `a number up to ${LARGEST_QUOTA}, or none` });
  }
  return quota;
}

export function readAlgorithm(value: string): DigestAlgorithm {
  return chosen('--algorithm', value, DIGEST_ALGORITHMS);
}

export function readTime(option: string, value: string): Date {
  const time = new Date(value);
  const written = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(value);
  if (!written || Number.isNaN(time.getTime()) || !isDay(value.slice(0, 10))) {
    const expected = 'a date or time such as 2030-12-31 or 2030-12-31T18:00:00Z';
    throw new ServerError('invalid-option', { option, value, expected });
  }
  return time;
}

/** JavaScript would read February 31 as March 3, so `records prune` would remove the wrong records. */
function isDay(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}

export function readDuration(option: string, value: string, now: Date): Date {
  const [, count, unit] = /^([1-9]\d{0,4})([mhd])$/.exec(value) ?? [];
  if (unit === 'm' || unit === 'h' || unit === 'd') return new Date(now.getTime() + Number(count) * MILLISECONDS[unit]);
  throw new ServerError('invalid-option', { option, value, expected: 'a duration such as 30m, 24h or 7d' });
}

export function readPeriod({ since, until }: { readonly since?: string; readonly until?: string }) {
  return {
    since: since === undefined ? undefined : readTime('--since', since),
    until: until === undefined ? undefined : readTime('--until', until),
  };
}

export function readLimit(value: string): number {
  return Number(checked('--limit', value, /^[1-9]\d{0,8}$/, 'a number from 1'));
}
