/** Finds files such as `latest.yml`, `RELEASES` or `SHA256SUMS` with a digest that becomes wrong when the file is signed. */

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';

const LARGEST_FEED = 1_000_000;
const DIGESTS = ['sha1', 'sha256', 'sha512'] as const;
/** Matches digests in hexadecimal or Base64. The shortest digest is SHA-1. */
const TOKENS = /[A-Za-z0-9+/]{27,128}/g;

interface Feed {
  readonly name: string;
  readonly tokens: ReadonlySet<string>;
}

/** Each folder is read only once. */
export function findStaleFeeds() {
  const folders = new Map<string, Promise<readonly Feed[]>>();

  return async (path: string, source: ByteSource): Promise<readonly string[]> => {
    const folder = dirname(path);
    const reading = folders.get(folder) ?? readFeeds(folder);
    folders.set(folder, reading);
    const feeds = (await reading).filter(({ name }) => name !== basename(path));
    if (feeds.length === 0) return [];
    const digests = await digestsOf(source);
    return feeds
      .filter(({ name, tokens }) => name === `${basename(path)}.blockmap` || digests.some((one) => tokens.has(one)))
      .map(({ name }) => name);
  };
}

async function readFeeds(folder: string): Promise<readonly Feed[]> {
  const feeds: Feed[] = [];
  for (const name of (await readdir(folder).catch(() => [])).sort()) {
    const stats = await stat(join(folder, name)).catch(() => undefined);
    if (!stats?.isFile() || stats.size > LARGEST_FEED) continue;
    const bytes = await readFile(join(folder, name)).catch(() => undefined);
    if (bytes === undefined) continue;
    // electron-builder compresses its block maps, which contain digests of blocks.
    if (name.endsWith('.blockmap')) feeds.push({ name, tokens: new Set() });
    if (bytes.includes(0)) continue;
    const tokens = new Set(bytes.toString('latin1').match(TOKENS)?.map(comparable));
    if (tokens.size > 0) feeds.push({ name, tokens });
  }
  return feeds;
}

async function digestsOf(source: ByteSource): Promise<readonly string[]> {
  const hashes = DIGESTS.map((name) => createHash(name));
  for await (const chunk of source.stream()) for (const hash of hashes) hash.update(chunk);
  return hashes
    .map((hash) => hash.digest())
    .flatMap((digest) => [digest.toString('hex'), digest.toString('base64').replace(/=+$/, '')]);
}

/** Converts a hexadecimal digest to lower case. */
function comparable(token: string): string {
  return /^[0-9A-F]+$/.test(token) ? token.toLowerCase() : token;
}
