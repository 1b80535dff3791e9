/**
 * RSA keys for tests, each made once in a run and kept in its shared folder. To find a prime takes long, so keys share their
 * primes: twelve make 66 different keys. Such keys are worth nothing outside tests.
 */

import { createPrivateKey, createPublicKey, generateKeyPairSync, generatePrimeSync, type KeyObject } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SHARED_FOLDER_VARIABLE } from '../shared-folder.ts';

const EXPONENT = 65_537n;

/** The key of this size and name: another one for each name. */
export function rsaKey(bits: number, name: string): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const shared = process.env[SHARED_FOLDER_VARIABLE];
  if (shared === undefined) return generateKeyPairSync('rsa', { modulusLength: bits });
  const folder = join(shared, `rsa-${bits}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let row = 1; ; row += 1) {
    for (let column = 0; column < row; column += 1) {
      if (kept(join(folder, `key-${row}-${column}`), () => name) !== name) continue;
      const [p, q] = [row, column].map((index) =>
        BigInt(kept(join(folder, `prime-${index}`), () => newPrime(bits / 2))),
      );
      const privateKey = keyOf(p ?? 0n, q ?? 0n);
      return { privateKey, publicKey: createPublicKey(privateKey) };
    }
  }
}

/** The text of the file, which is made if it is not there. One process that makes it wins. */
function kept(path: string, make: () => string): string {
  const before = textIfThere(path);
  if (before !== undefined) return before;
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, make(), { mode: 0o600 });
  try {
    linkSync(aside, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    rmSync(aside);
  }
  return readFileSync(path, 'utf8');
}

function textIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

/** Its two highest bits are set, so that the product of two has twice as many bits. */
function newPrime(bits: number): string {
  const prime = generatePrimeSync(bits, { bigint: true });
  return prime % EXPONENT === 1n ? newPrime(bits) : `${prime}`;
}

function keyOf(p: bigint, q: bigint): KeyObject {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const members = Object.entries(numbers).map(([name, value]) => [name, base64(value)] as const);
  return createPrivateKey({ key: { kty: 'RSA', ...Object.fromEntries(members) }, format: 'jwk' });
}

/** Of a number without a common factor with the modulus. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [last, rest, lastFactor, factor] = [value % modulus, modulus, 1n, 0n];
  while (rest > 0n) {
    const times = last / rest;
    [last, rest, lastFactor, factor] = [rest, last % rest, factor, lastFactor - times * factor];
  }
  return ((lastFactor % modulus) + modulus) % modulus;
}

function base64(value: bigint): string {
  const digits = value.toString(16);
  return Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString('base64url');
}
