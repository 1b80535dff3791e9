/**
 * Reason why a signature was not sent. `refused`: the quota, the client or the certificate no longer allowed the
 * signature. `abandoned`: the client disconnected. `failed`: the signature could not be counted.
 */
export type WhyThrownAway = 'refused' | 'abandoned' | 'failed';

export type ThrownAway = ReturnType<typeof createThrownAway>;

/** A client with more than 100 discarded signatures within a minute is served last. */
const MANY = 100;
const MINUTE = 60_000;

export function createThrownAway(count: (why: WhyThrownAway) => void, now = () => performance.now()) {
  const latest = new Map<string, number[]>();
  return {
    note(client: string, why: WhyThrownAway): void {
      count(why);
      latest.set(client, [...(latest.get(client) ?? []), now()].slice(-MANY - 1));
    },
    isWasteful(client: string): boolean {
      const [first = Number.NEGATIVE_INFINITY, ...others] = latest.get(client) ?? [];
      return others.length === MANY && now() - first < MINUTE;
    },
  };
}
