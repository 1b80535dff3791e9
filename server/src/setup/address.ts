/** The address that clients use: the one from the last start, or the configured one before the first start. */

import { isIPv6 } from 'node:net';
import type { Config } from '../config.ts';
import { readIfThere, replaceFile } from '../files.ts';
import type { DataFolder } from './data-folder.ts';
import { readTls } from './tls.ts';

export interface Address {
  readonly baseUrl: string;
  readonly caFile: string | undefined;
}

export function addressOf({ host, tlsNames }: Config, port: number, caFile: string | undefined): Address {
  // The first name in `--tls-name`, or else the host, unless the host is a wildcard address.
  const name = tlsNames[0] ?? (isWildcard(host) ? '127.0.0.1' : host);
  return { baseUrl: `https://${bracketed(name)}:${port}`, caFile };
}

export async function keepAddress(folder: DataFolder, address: Address): Promise<void> {
  await replaceFile(folder.address, JSON.stringify(address));
}

export async function lastAddress(folder: DataFolder): Promise<Address | undefined> {
  const kept = await readIfThere(folder.address);
  return kept && JSON.parse(kept.toString());
}

export async function configuredAddress(folder: DataFolder, config: Config): Promise<Address> {
  const { tls, port } = config;
  const caFile = tls === undefined ? folder.tls.ca : (await readTls(tls.certificate, tls.key)).caFile;
  return addressOf(config, port, caFile);
}

export function isWildcard(host: string): boolean {
  const written = `https://${bracketed(host)}`;
  return URL.canParse(written) && ['0.0.0.0', '[::]', '[::ffff:0:0]'].includes(new URL(written).hostname);
}

export function bracketed(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
