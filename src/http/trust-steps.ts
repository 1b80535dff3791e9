/** Trust in steps: the cheap roots until a server is not trusted by them, then every root there is. */

import tls from 'node:tls';
import { ConnectFailure } from './connect-failure.ts';
import type { TrustRoots } from './roots.ts';

/** Runs `open` with the cheap step, and again with everything when the server was not trusted. */
export type Trusting = <T>(open: (context: tls.SecureContext) => Promise<T>) => Promise<T>;

export function trustInSteps(roots: TrustRoots): Trusting {
  let first: tls.SecureContext | undefined;
  let everything: Promise<tls.SecureContext | undefined> | undefined;
  return async (open) => {
    first ??= secureContext(roots.own);
    const context = (await everything) ?? first;
    try {
      return await open(context);
    } catch (failure) {
      if (!(failure instanceof ConnectFailure && failure.reason === 'tls-untrusted')) throw failure;
      everything ??= roots.all().then((all) => (all === undefined ? undefined : secureContext(all)));
      const more = await everything;
      if (more === undefined || more === context) throw failure;
      return open(more);
    }
  };
}

/** Without `ca` Node takes its default roots, NODE_EXTRA_CA_CERTS among them. */
function secureContext(ca: readonly string[] | undefined): tls.SecureContext {
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca: [...ca] }) });
}
