/** Signs JARs with jarsigner, for what it makes of them next to this program. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { mainJava, mustJarsignAll, mustRunJava, STORE_PASSWORD } from '../../../support/programs/java.ts';
import { makePki, testKey, toP12 } from '../../../support/signed-files/pki.ts';

/** A key store (PKCS#12) in the folder, with a signer under the root of throw-away signers. @returns its path */
export function makeKeystore(folder: string, publisher = 'Test Publisher', keyName = ''): string {
  const pki = makePki();
  const leaf = pki.leaf({ commonName: publisher, key: testKey('rsa-2048', keyName) });
  const store = path.join(folder, 'signer.p12');
  writeFileSync(store, toP12([leaf, pki.intermediate, pki.root], STORE_PASSWORD));
  return store;
}

export interface JarsignerRequest {
  readonly keystore: string;
  readonly input: string;
  readonly output: string;
}

export function jarsignerSign(request: JarsignerRequest): Promise<string> {
  return mustRunJava(mainJava(), 'jarsigner', argumentsFor(request));
}

export function jarsignerSignAll(requests: readonly JarsignerRequest[]): Promise<readonly string[]> {
  return mustJarsignAll(mainJava(), requests.map(argumentsFor));
}

function argumentsFor({ keystore, input, output }: JarsignerRequest): readonly string[] {
  const store = ['-keystore', keystore, '-storepass', STORE_PASSWORD];
  // Releases of Java differ in what they take without it.
  return [...store, '-digestalg', 'SHA-256', '-signedjar', output, input, '1'];
}
