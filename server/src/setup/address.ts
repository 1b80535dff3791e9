/** The address that clients use: of the last start, or as it is configured before the first one. */

import { isIPv6 } from 'node:net';
import type { StartConfig } from '../config.ts';
import { readIfThere, replaceFile } from '../files.ts';
import { type DataFolder, usable } from './data-folder.ts';
import { readTls } from './tls.ts';

export interface Address {
  readonly baseUrl: string;
  /** What a client needs to trust it beyond public roots; undefined: nothing that is known here. */
  readonly caFile: string | undefined;
}

export function addressOf({ host, tlsNames }: StartConfig, port: number, caFile: string | undefined): Address {
  // A name given for TLS, or the one listened on, unless that is a wildcard.
  const name = tlsNames[0] ?? (isWildcard(host) ? '127.0.0.1' : host);
  return { baseUrl: `https://${bracketed(name)}:${port}`, caFile };
}

/** Keeps the address of a start for the clients that are added later. */
export async function keepAddress(folder: DataFolder, address: Address): Promise<void> {
  await replaceFile(folder.address, JSON.stringify(address));
}

/** The address of the last start; undefined before the first one. */
export async function lastAddress(folder: DataFolder): Promise<Address | undefined> {
  const kept = await usable(folder.address, readIfThere(folder.address));
  return kept && JSON.parse(kept.toString());
}

export async function configuredAddress(folder: DataFolder, config: StartConfig): Promise<Address> {
  const { tls, port } = config;
  const caFile = tls === undefined ? folder.tls.ca : (await readTls(tls.certificate, tls.key)).caFile;
  return addressOf(config, port, caFile);
}

/** A wildcard means every address of this machine. It has several notations. */
export function isWildcard(host: string): boolean {
  const written = `https://${bracketed(host)}`;
  return URL.canParse(written) && ['0.0.0.0', '[::]', '[::ffff:0:0]'].includes(new URL(written).hostname);
}

export function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
