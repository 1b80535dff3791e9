/** Signatures that the HSM made and no client got: how many, why, and which client causes many of them. */

/** `refused`: quota, client or certificate did not allow it any more; `abandoned`: the client was gone; `failed`: it could not be counted. */
export type WhyThrownAway = 'refused' | 'abandoned' | 'failed';

export type ThrownAway = ReturnType<typeof createThrownAway>;

/** The calls of a client go last after more than this within a minute. */
const MANY = 100;
const MINUTE = 60_000;

export function createThrownAway(count: (why: WhyThrownAway) => void, now = () => performance.now()) {
  /** Times of the latest discarded signatures, by client. */
  const latest = new Map<string, number[]>();
  return {
    note(client: string, why: WhyThrownAway): void {
      count(why);
      latest.set(client, [...(latest.get(client) ?? []), now()].slice(-MANY - 1));
    },
    /** True if too many of this client's signatures were thrown away within the last minute. */
    isWasteful(client: string): boolean {
      const [first = Number.NEGATIVE_INFINITY, ...others] = latest.get(client) ?? [];
      return others.length === MANY && now() - first < MINUTE;
    },
  };
}
