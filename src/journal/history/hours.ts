/** Hours of universal time, by which files and folders of the journal are named: 2026-11-21T14. Their order is that of time. */

export const HOUR_MILLISECONDS = 60 * 60 * 1000;

const HOUR = /^\d{4}-\d{2}-\d{2}T\d{2}$/;

export function isHour(name: string): boolean {
  return HOUR.test(name);
}

export function hourOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 13);
}
