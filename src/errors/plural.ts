/** `plural(1, 'file')` returns "1 file". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Joins the first `most` items: "a, b and 3 more". */
export function listedUpTo(most: number, items: readonly string[]): string {
  const more = items.length - most;
  return items.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
