/** The time stamp authority's own key and certificate: made when they are first needed, and in time before they end. */

import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { issueFor } from '../certificates/authority.ts';
import { readCertificates, toPem } from '../certificates/x509.ts';
import { serverError } from '../errors.ts';
import type { RsaBits } from '../keys/key-store.ts';
import type { StoredAuthority } from '../records/store.ts';
import type { TimestampAuthority } from '../tsa/token.ts';
import { codeSigningIssuer, type MakingData, requireKey } from './certificates.ts';
import { usable } from './data-folder.ts';

const BITS: RsaBits = 3072;
const KEY_LABEL = 'time-stamping';
/** A token is good for as long as this certificate: no shorter than the code-signing certificates, in milliseconds. */
const SHORTEST = 3 * 365 * 24 * 60 * 60 * 1000;

/**
 * The authority as the data folder has it, else a new one under the code-signing authority: one root for both.
 * @throws `data-folder-incomplete`, `data-folder-unusable`, `key-not-found`, `hsm-failed`
 */
export async function openTimestampAuthority(data: MakingData, now: Date): Promise<TimestampAuthority> {
  const known = await data.store.authorities.get('time-stamping');
  const { keyId, chain } = known !== undefined && lasts(known, now) ? known : await makeAuthority(data, known, now);
  const key = await requireKey(data.keys, keyId);
  const path = data.folder.timestampAuthority;
  await usable(path, writeFile(path, chain)); // for verifiers of a token without certificates
  const [leaf, ...issuers] = readCertificates(chain);
  if (leaf === undefined)
    throw serverError('data-folder-incomplete', { path, missing: 'a certificate for timestamps' });
  return {
    key,
    chain: [leaf.raw, ...issuers.map(({ raw }) => raw)],
    notBefore: new Date(leaf.validFrom),
    notAfter: new Date(leaf.validTo),
  };
}

async function makeAuthority(
  data: MakingData,
  before: StoredAuthority | undefined,
  now: Date,
): Promise<StoredAuthority> {
  const { issuer, certificate } = await codeSigningIssuer(data);
  const { id, publicKey } = await data.keys.generate(KEY_LABEL, BITS);
  const leaf = await issueFor(issuer, 'time-stamping', { commonName: 'Time Stamp Authority', publicKey }, now);
  const made = { keyId: id, chain: toPem(leaf) + certificate };
  return await data.store.authorities.replace('time-stamping', before, made);
}

function lasts({ chain }: StoredAuthority, now: Date): boolean {
  return new Date(new X509Certificate(chain).validTo).getTime() - now.getTime() > SHORTEST;
}
