/** The commands about signature records: a list for people, one in full, and exports. */

import { serverError } from '../errors.ts';
import { CSV_HEADING, csvLine, type Shown, shown } from '../records/shown.ts';
import type { RecordFilter, SignatureRecord, Store } from '../records/store.ts';
import type { DataConfig } from './config.ts';
import { type Columns, type ListOptions, printList } from './list.ts';
import { type AdminSurroundings, withStore } from './surroundings.ts';
import { checked, json, readTime } from './values.ts';

export interface RecordsOptions {
  readonly client?: string;
  readonly certificate?: string;
  readonly since?: string;
  readonly until?: string;
}

export const EXPORT_FORMATS = ['csv', 'json'] as const;

/** How many records are in memory at once. */
const PAGE = 500;

/** `records`: the latest ones, oldest first. @throws ServerError */
export async function recordsList(
  config: DataConfig,
  options: RecordsOptions & ListOptions & { readonly limit: string },
  { announce }: AdminSurroundings,
): Promise<void> {
  const limit = Number(checked('--limit', options.limit, /^[1-9]\d{0,8}$/, 'a number from 1'));
  const latest: Shown[] = [];
  await withStore(config, async (store) => {
    for await (const record of recordsOf(store, options)) {
      latest.push(record);
      if (latest.length > limit) latest.shift();
    }
  });
  printList(latest, RECORD_COLUMNS, options, announce);
}

const RECORD_COLUMNS: Columns<Shown> = {
  ID: ({ id }) => id,
  SIGNED: ({ signedAt }) => signedAt,
  CLIENT: ({ client }) => client,
  CERTIFICATE: ({ certificate }) => certificate,
  ALGORITHM: ({ algorithm }) => algorithm,
  COUNTED: ({ counted }) => (counted ? 'yes' : 'no'),
  REPORT: ({ report }) => report,
  FILE: ({ extra }) => extra?.signing_filename ?? '',
};

/** How many records one statement removes: signatures wait for it. */
const PRUNED_AT_ONCE = 1000;

/** `records prune`: prints how many it removed. What clients have used of their quotas stays. @throws `invalid-option` */
export async function recordsPrune(
  config: DataConfig,
  { before: text }: { readonly before: string },
  { announce, now }: AdminSurroundings,
): Promise<void> {
  const before = readTime('--before', text);
  if (before > now()) throw serverError('invalid-option', { option: '--before', value: text, expected: 'in the past' });
  await withStore(config, async ({ records }) => {
    let [pruned, latest] = [0, PRUNED_AT_ONCE];
    while (latest === PRUNED_AT_ONCE) {
      latest = await records.prune(before, PRUNED_AT_ONCE);
      pruned += latest;
    }
    announce(`${pruned}`);
  });
}

/** `records show`: one record in full, with the signature that the client was given. @throws `record-not-found` */
export async function recordsShow(config: DataConfig, id: string, { announce }: AdminSurroundings): Promise<void> {
  await withStore(config, async (store) => {
    const record = await store.records.find(id);
    if (record === undefined) throw serverError('record-not-found', { id });
    const { signature } = record;
    const kept = signature === undefined ? null : Buffer.from(signature).toString('base64');
    const clients = new Map((await store.clients.list()).map((client) => [client.id, client]));
    announce(json({ ...shown(record, clients), signature: kept }, 2));
  });
}

/** `export`: every record that fits, without its signature. @throws ServerError */
export async function exportRecords(
  config: DataConfig,
  options: RecordsOptions & { readonly format: (typeof EXPORT_FORMATS)[number] },
  { announce }: AdminSurroundings,
): Promise<void> {
  await withStore(config, async (store) => {
    const csv = options.format === 'csv';
    if (csv) announce(CSV_HEADING);
    let before = '[';
    for await (const record of recordsOf(store, options)) {
      if (csv) announce(csvLine(record));
      else announce(before + json(record));
      before = ',';
    }
    if (!csv) announce(before === '[' ? '[]' : ']');
  });
}

async function* recordsOf(store: Store, options: RecordsOptions): AsyncGenerator<Shown> {
  const { since, until, client: accessKey } = options;
  const clients = await store.clients.list();
  const client = accessKey === undefined ? undefined : clients.find((each) => each.accessKey === accessKey);
  if (accessKey !== undefined && client === undefined) throw serverError('client-not-found', { accessKey });
  const filter: RecordFilter = {
    clientId: client?.id,
    certificate: options.certificate,
    since: since === undefined ? undefined : readTime('--since', since),
    until: until === undefined ? undefined : readTime('--until', until),
  };
  const byId = new Map(clients.map((each) => [each.id, each]));
  let after: SignatureRecord | undefined;
  do {
    const page = await store.records.list(filter, PAGE, after);
    for (const record of page) yield shown(record, byId);
    after = page.length === PAGE ? page.at(-1) : undefined;
  } while (after !== undefined);
}
