import { type Command, Option } from 'commander';
import type { DataOptions } from '../config.ts';
import { ServerError } from '../errors.ts';
import { AUDIT_COLUMNS } from '../records/audit.ts';
import type { RecordFilter } from '../records/records.ts';
import { batches } from '../records/records.ts';
import type { Client } from '../records/rows.ts';
import { CSV_HEADING, csvLine, csvRow, type Shown, shown } from '../records/shown.ts';
import type { Store } from '../records/store.ts';
import type { Surroundings } from '../start.ts';
import { json, type ListOptions } from '../text.ts';
import { dataCommand, holderNamed, listCommand, operationOf, withStore } from './data.ts';
import { readLimit, readPeriod, readTime } from './values.ts';

interface FilterOptions extends DataOptions {
  readonly client?: string;
  readonly certificate?: string;
  readonly since?: string;
  readonly until?: string;
}
type LimitOptions = FilterOptions & ListOptions & { readonly limit: string };

/** Number of records that one SQL statement removes. Signature requests wait for the end of the statement. */
const PRUNED_AT_ONCE = 1000;

export function addRecordCommands(program: Command, surroundings: Surroundings): void {
  const { now, announce } = surroundings;
  const records = program.command('records').description('records of signatures');

  const listed = 'lists the id, time, client, certificate, algorithm, count, report and file of each record';
  const latestOf = async (store: Store, options: LimitOptions) => {
    const limit = readLimit(options.limit);
    const latest: Shown[] = [];
    for await (const record of recordsOf(store, options, 'newest first')) {
      if (latest.push(record) === limit) break;
    }
    const inOrder = latest.reverse();
    if (options.json) return inOrder;
    return inOrder.map(({ id, signedAt, client, certificate, algorithm, counted, report, extra }) => {
      return { id, signedAt, client, certificate, algorithm, counted, report, file: extra?.signing_filename };
    });
  };
  withFilter(listCommand(records, listed, surroundings, latestOf, { isDefault: true })).option(
    '--limit <n>',
    'number of records to list, beginning with the most recent',
    '50',
  );

  dataCommand(records, 'show <id>', 'prints one record as JSON, with the signature that the client received').action(
    (id: string, options: DataOptions) =>
      withStore(options, surroundings, async (store) => {
        const record = await store.records.find(id);
        if (record === undefined) throw new ServerError('record-not-found', { id });
        const signature = record.signature ? Buffer.from(record.signature).toString('base64') : null;
        announce(json({ ...shown(record, byId(await store.clients.list())), signature }, 2));
      }),
  );

  const removes = 'removes records older than a given time and prints their number; signature counts do not change';
  dataCommand(records, 'prune', removes)
    .requiredOption(
      '--before <time>',
      'time before which records are removed, such as 2030-12-31 or 2030-12-31T18:00:00Z',
    )
    .action(async (options: DataOptions & { before: string }, command: Command) => {
      const { before: value } = options;
      const before = readTime('--before', value);
      if (before > now())
        throw new ServerError('invalid-option', { option: '--before', value, expected: 'in the past' });
      await withStore(options, surroundings, async (store) => {
        await store.audit.add(operationOf(command, surroundings)); // an interrupted command also removes records
        let [pruned, latest] = [0, PRUNED_AT_ONCE];
        while (latest === PRUNED_AT_ONCE) {
          latest = await store.records.prune(before, PRUNED_AT_ONCE);
          pruned += latest;
        }
        announce(`${pruned}`);
      });
    });

  const audit = program.command('audit').description('changes by operators');
  const changes = 'lists the time, operator, host, command, target and details of each change';
  const latestChanges = (store: Store, options: LimitOptions) =>
    store.audit.list(readPeriod(options), readLimit(options.limit));
  withPeriod(listCommand(audit, changes, surroundings, latestChanges, { isDefault: true })).option(
    '--limit <n>',
    'number of changes to list, beginning with the most recent',
    '50',
  );

  const exported = 'exports either the audit log or all records (without their signatures)';
  withFilter(dataCommand(program, 'export', exported))
    .addOption(
      new Option('--audit', 'export the audit log instead of the records').conflicts(['client', 'certificate']),
    )
    .addOption(new Option('--format <format>', 'output format').choices(['csv', 'json']).default('csv'))
    .action((options: FilterOptions & { format: 'csv' | 'json'; audit?: boolean }) =>
      withStore(options, surroundings, async (store) => {
        const csv = options.format === 'csv';
        const print = async <Row>(
          rows: AsyncIterable<Row> | Iterable<Row>,
          heading: string,
          line: (row: Row) => string,
        ) => {
          if (csv) announce(heading);
          let before = '[';
          for await (const row of rows) {
            announce(csv ? line(row) : before + json(row));
            before = ',';
          }
          if (!csv) announce(before === '[' ? '[]' : ']');
        };
        if (!options.audit) return await print(recordsOf(store, options, 'oldest first'), CSV_HEADING, csvLine);
        const entries = await store.audit.list(readPeriod(options));
        await print(entries, AUDIT_COLUMNS.join(','), (entry) => csvRow(AUDIT_COLUMNS.map((column) => entry[column])));
      }),
    );
}

function withFilter(command: Command): Command {
  return withPeriod(command)
    .option('--client <client>', 'client that requested the signatures')
    .option('--certificate <number>', 'number of the certificate used for the signatures');
}

function withPeriod(command: Command): Command {
  return command
    .option('--since <time>', 'earliest time to include, such as 2030-12-31 or 2030-12-31T18:00:00Z')
    .option('--until <time>', 'end of the period; entries from this time on are omitted');
}

async function* recordsOf(
  store: Store,
  options: FilterOptions,
  order: 'oldest first' | 'newest first',
): AsyncGenerator<Shown> {
  const clients = await store.clients.list();
  const client = options.client === undefined ? undefined : holderNamed('client', clients, options.client);
  const filter: RecordFilter = { clientId: client?.id, certificate: options.certificate, ...readPeriod(options) };
  const known = byId(clients);
  for await (const batch of batches(store.records, filter, order)) {
    for (const record of batch) yield shown(record, known);
  }
}

function byId(clients: readonly Client[]): ReadonlyMap<string, Client> {
  return new Map(clients.map((client) => [client.id, client]));
}
