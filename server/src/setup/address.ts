import { isIPv6 } from 'node:net';
import * as v from 'valibot';
import type { Config } from '../config.ts';
import { ServerError } from '../errors.ts';
import { readIfThere, replaceFile } from '../files.ts';
import type { DataFolder } from './data-folder.ts';
import { readTls } from './tls.ts';

const schema = v.object({ baseUrl: v.string(), caFile: v.optional(v.string()) });
/** The address that clients use. */
export type Address = Readonly<v.InferOutput<typeof schema>>;

export function addressOf({ host, tlsNames }: Config, port: number, caFile: string | undefined): Address {
  return { baseUrl: httpsUrl(tlsNames[0] ?? (isWildcard(host) ? '127.0.0.1' : host), port), caFile };
}

export function httpsUrl(host: string, port: number): string {
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

export async function keepAddress(folder: DataFolder, address: Address): Promise<void> {
  await replaceFile(folder.address, JSON.stringify(address));
}

export async function lastAddress(folder: DataFolder): Promise<Address | undefined> {
  const kept = await readIfThere(folder.address);
  try {
    return kept && v.parse(schema, JSON.parse(kept.toString()));
  } catch (error) {
    throw new ServerError('address-damaged', { path: folder.address }, error);
  }
}

export async function configuredAddress(folder: DataFolder, config: Config): Promise<Address> {
  const { tls, port } = config;
  const caFile = tls === undefined ? folder.tls.ca : (await readTls(tls.certificate, tls.key)).caFile;
  return addressOf(config, port, caFile);
}

export function isWildcard(host: string): boolean {
  const url = httpsUrl(host, 0);
  return URL.canParse(url) && ['0.0.0.0', '[::]', '[::ffff:0:0]'].includes(new URL(url).hostname);
}
