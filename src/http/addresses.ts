/** Resolves host names, one query per name at a time, because all queries run in a small pool of threads. */

import dns from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Lifetime of a cached address, because the system does not report how long the address is valid. */
const KEPT_MILLISECONDS = 60_000;

type Addresses = dns.LookupAddress[];

export interface AddressBook {
  /** For `net.connect`: all connections that wait for the same name use one query and its result. */
  readonly lookup: LookupFunction;
  /** Makes the next connection query the name again, because no connection to any of its addresses was possible. */
  forget(hostname: string): void;
}

/** @param ask returns all addresses of a name, in the order in which they are tried */
export function createAddressBook(
  ask: (hostname: string) => Promise<Addresses> = (hostname) => dns.promises.lookup(hostname, { all: true }),
  now: () => number = Date.now,
): AddressBook {
  const answers = new Map<string, { readonly addresses: Promise<Addresses>; until: number }>();

  const addressesOf = (hostname: string): Promise<Addresses> => {
    const kept = answers.get(hostname);
    if (kept !== undefined && now() < kept.until) return kept.addresses;
    // The lifetime starts when the query has finished; until then, every connection waits for the same query.
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

  return {
    lookup(hostname, { all }, done): void {
      addressesOf(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (all || first === undefined) done(null, addresses);
          else done(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => done(error, []),
      );
    },
    forget: (hostname) => void answers.delete(hostname),
  };
}
