/** The time stamp authority's own key and certificate: made when they are first needed, and in time before they end. */

import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { issueFor } from '../certificates/authority.ts';
import { readCertificates } from '../certificates/read.ts';
import { toPem } from '../certificates/x509.ts';
import { reasonOf, serverError } from '../errors.ts';
import type { RsaBits } from '../keys/key-store.ts';
import type { StoredTimestampAuthority } from '../records/store.ts';
import type { TimestampAuthority } from '../tsa/token.ts';
import { codeSigningIssuer } from './certificates.ts';
import type { OpenData } from './open-data.ts';

const BITS: RsaBits = 3072;
const KEY_LABEL = 'time-stamping';
/** A token is good for as long as this certificate: no shorter than the code-signing certificates, in milliseconds. */
const SHORTEST = 3 * 365 * 24 * 60 * 60 * 1000;

/**
 * The authority as the data folder has it, else a new one under the code-signing authority: one root for both.
 * @throws `data-folder-incomplete`, `data-folder-unusable`, `key-not-found`, `hsm-failed`
 */
export async function openTimestampAuthority(data: Omit<OpenData, 'close'>, now: Date): Promise<TimestampAuthority> {
  const known = await data.store.timestampAuthority.get();
  const { keyId, chain } = known !== undefined && lasts(known, now) ? known : await makeAuthority(data, known, now);
  const key = await data.keys.find(keyId);
  if (key === undefined) throw serverError('key-not-found', { id: keyId });
  const path = data.folder.timestampAuthority;
  try {
    await writeFile(path, chain); // for whoever verifies a token that holds no certificates
  } catch (error) {
    throw serverError('data-folder-unusable', { path, reason: reasonOf(error) }, error);
  }
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
  { store, keys, folder }: Omit<OpenData, 'close'>,
  before: StoredTimestampAuthority | undefined,
  now: Date,
): Promise<StoredTimestampAuthority> {
  const { issuer, certificate } = await codeSigningIssuer({ store, keys, folder });
  const { id, publicKey } = await keys.generate(KEY_LABEL, BITS);
  const leaf = await issueFor(issuer, 'time-stamping', { commonName: 'Time Stamp Authority', publicKey }, now);
  return await store.timestampAuthority.replace(before, { keyId: id, chain: toPem(leaf) + certificate });
}

function lasts({ chain }: StoredTimestampAuthority, now: Date): boolean {
  return new Date(new X509Certificate(chain).validTo).getTime() - now.getTime() > SHORTEST;
}
