/** What is found out of a signature file once, however many blocks sign it and however often it is asked for. */

import { type Disagreement, findDisagreement, type KnownManifest } from './agreement.ts';
import { type Coverage, coverageOf } from './coverage.ts';
import { type DigestStrength, strengthOf } from './digest-names.ts';
import type { JarLayout } from './layout.ts';
import type { Manifest } from './manifest.ts';
import { onceOf } from './once.ts';
import { fileAlgorithms } from './weakest-algorithm.ts';

export interface SignatureFileFacts {
  /** Whether it speaks of the manifest as it is; undefined when it does, or when there is no manifest. */
  disagreement(): Disagreement | undefined;
  coverage(): Coverage;
  /** Of the strongest digests with which it agrees: Java passes over those that it does not take. */
  strength(): DigestStrength;
  /** As `fileAlgorithms` gives them. */
  algorithms(): readonly (readonly string[])[];
}

export type FactsOf = (signatureFile: Manifest) => SignatureFileFacts;

/** For the signature files of one archive. `known`: its manifest; undefined when there is none. */
export function signatureFileFacts(layout: JarLayout, known: () => KnownManifest | undefined): FactsOf {
  const found = new WeakMap<Manifest, SignatureFileFacts>();
  return (signatureFile) => {
    const facts = found.get(signatureFile) ?? factsOf(signatureFile, layout, known);
    found.set(signatureFile, facts);
    return facts;
  };
}

function factsOf(
  signatureFile: Manifest,
  layout: JarLayout,
  knownManifest: () => KnownManifest | undefined,
): SignatureFileFacts {
  const manifest = layout.manifest?.parsed;
  const disagreementBy = (permits: (algorithm: string) => boolean): Disagreement | undefined => {
    const known = knownManifest();
    if (manifest === undefined || known === undefined) return undefined;
    return findDisagreement(signatureFile, manifest, { known, permits });
  };
  const agreesBy = (...strengths: readonly DigestStrength[]): boolean =>
    disagreementBy((algorithm) => strengths.includes(strengthOf(algorithm))) === undefined;
  return {
    disagreement: onceOf(() => disagreementBy(() => true)),
    coverage: onceOf(() => coverageOf(signatureFile, layout)),
    strength: onceOf(() => {
      if (agreesBy('strong')) return 'strong';
      return agreesBy('strong', 'dated') ? 'dated' : 'weak';
    }),
    algorithms: onceOf(() => fileAlgorithms(signatureFile)),
  };
}
