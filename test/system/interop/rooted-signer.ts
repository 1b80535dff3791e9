/** A throw-away signer whose chain holds its root, so that the root alone in a trust store is enough for jarsigner -strict. */

import {
  chainOf,
  makeThrowawaySigner,
  type ThrowawaySigner,
  type ThrowawaySignerOptions,
} from '../../support/signed-files/throwaway-signer.ts';

export async function makeRootedSigner(options: ThrowawaySignerOptions = {}): Promise<ThrowawaySigner> {
  const signer = await makeThrowawaySigner(options);
  return {
    ...signer,
    chain: await chainOf(...[signer.leaf, signer.intermediate, signer.root].map((pem) => ({ pem }))),
  };
}
