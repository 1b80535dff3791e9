import dns from 'node:dns';
import type { LookupFunction } from 'node:net';

/** The system does not report how long an address is valid. */
const KEPT_MILLISECONDS = 60_000;

type Addresses = dns.LookupAddress[];

export type AddressBook = ReturnType<typeof createAddressBook>;

/** Connections that wait for a name use the same query, because few threads run all queries. */
export function createAddressBook(
  ask: (hostname: string) => Promise<Addresses> = (hostname) => dns.promises.lookup(hostname, { all: true }),
  now: () => number = Date.now,
) {
  const answers = new Map<string, { readonly addresses: Promise<Addresses>; until: number }>();

  const addressesOf = (hostname: string): Promise<Addresses> => {
    const kept = answers.get(hostname);
    if (kept !== undefined && now() < kept.until) return kept.addresses;
    // The lifetime starts when the query has finished.
    const answer = { addresses: ask(hostname), until: Number.POSITIVE_INFINITY };
    answers.set(hostname, answer);
    answer.addresses.then(
      () => {
        answer.until = now() + KEPT_MILLISECONDS;
      },
      () => {
        if (answers.get(hostname) === answer) answers.delete(hostname);
      },
    );
    return answer.addresses;
  };

  /** For `net.connect`. */
  const lookup: LookupFunction = (hostname, { all }, done) => {
    addressesOf(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all || first === undefined) done(null, addresses);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    );
  };
  /** Makes the next connection query the name again. */
  const forget = (hostname: string): void => void answers.delete(hostname);
  return { lookup, forget };
}
