import { type Command, Option } from 'commander';
import type { DataOptions } from '../config.ts';
import { ServerError } from '../errors.ts';
import type { RecordFilter } from '../records/records.ts';
import { batches } from '../records/records.ts';
import type { Client } from '../records/rows.ts';
import { CSV_HEADING, csvLine, type Shown, shown } from '../records/shown.ts';
import type { Store } from '../records/store.ts';
import type { Surroundings } from '../start.ts';
import { json, type ListOptions, printList } from '../text.ts';
import { dataCommand, listCommand, withStore } from './data.ts';
import { checked, readTime } from './values.ts';

interface FilterOptions extends DataOptions {
  readonly client?: string;
  readonly certificate?: string;
  readonly since?: string;
  readonly until?: string;
}

/** How many records one statement removes: signatures wait for it. */
const PRUNED_AT_ONCE = 1000;

export function addRecordCommands(program: Command, surroundings: Surroundings): void {
  const { now, announce } = surroundings;
  const records = program.command('records').description('what was signed for whom');

  const listed = 'lists id, time, client, certificate, algorithm, whether it counts, the report, and the file';
  withFilter(listCommand(records, 'list', listed, { isDefault: true }))
    .option('--limit <n>', 'number of latest records', '50')
    .action(async (options: FilterOptions & ListOptions & { limit: string }) => {
      const limit = Number(checked('--limit', options.limit, /^[1-9]\d{0,8}$/, 'a number from 1'));
      const latest: Shown[] = [];
      await withStore(options, surroundings, async (store) => {
        for await (const record of recordsOf(store, options, 'newest first')) {
          if (latest.push(record) === limit) break;
        }
      });
      const inOrder = latest.reverse();
      const rows = inOrder.map(({ id, signedAt, client, certificate, algorithm, counted, report, extra }) => {
        return { id, signedAt, client, certificate, algorithm, counted, report, file: extra?.signing_filename };
      });
      printList(options.json ? inOrder : rows, options, announce);
    });

  dataCommand(records, 'show <id>', 'prints one record as JSON, with the signature that the client got').action(
    (id: string, options: DataOptions) =>
      withStore(options, surroundings, async (store) => {
        const record = await store.records.find(id);
        if (record === undefined) throw new ServerError('record-not-found', { id });
        const signature = record.signature ? Buffer.from(record.signature).toString('base64') : null;
        announce(json({ ...shown(record, byId(await store.clients.list())), signature }, 2));
      }),
  );

  dataCommand(records, 'prune', 'removes records from before a time, and prints how many; counts stay')
    .requiredOption('--before <time>', 'time in the past, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .action(async (options: DataOptions & { before: string }) => {
      const { before: value } = options;
      const before = readTime('--before', value);
      if (before > now())
        throw new ServerError('invalid-option', { option: '--before', value, expected: 'in the past' });
      await withStore(options, surroundings, async (store) => {
        let [pruned, latest] = [0, PRUNED_AT_ONCE];
        while (latest === PRUNED_AT_ONCE) {
          latest = await store.records.prune(before, PRUNED_AT_ONCE);
          pruned += latest;
        }
        announce(`${pruned}`);
      });
    });

  withFilter(dataCommand(program, 'export', 'prints every record, without signatures'))
    .addOption(new Option('--format <format>', 'output format').choices(['csv', 'json']).default('csv'))
    .action((options: FilterOptions & { format: 'csv' | 'json' }) =>
      withStore(options, surroundings, async (store) => {
        const csv = options.format === 'csv';
        if (csv) announce(CSV_HEADING);
        let before = '[';
        for await (const record of recordsOf(store, options, 'oldest first')) {
          announce(csv ? csvLine(record) : before + json(record));
          before = ',';
        }
        if (!csv) announce(before === '[' ? '[]' : ']');
      }),
    );
}

function withFilter(command: Command): Command {
  return command
    .option('--client <access-key>', 'only records of this client')
    .option('--certificate <number>', 'only records with this certificate')
    .option('--since <time>', 'only from this time on, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .option('--until <time>', 'only before this time');
}

async function* recordsOf(
  store: Store,
  options: FilterOptions,
  order: 'oldest first' | 'newest first',
): AsyncGenerator<Shown> {
  const { since, until, client: accessKey } = options;
  const clients = await store.clients.list();
  const client = accessKey === undefined ? undefined : clients.find((each) => each.accessKey === accessKey);
  if (accessKey !== undefined && client === undefined) throw new ServerError('client-not-found', { accessKey });
  const filter: RecordFilter = {
    clientId: client?.id,
    certificate: options.certificate,
    since: since === undefined ? undefined : readTime('--since', since),
    until: until === undefined ? undefined : readTime('--until', until),
  };
  const known = byId(clients);
  for await (const batch of batches(store.records, filter, order)) {
    for (const record of batch) yield shown(record, known);
  }
}

function byId(clients: readonly Client[]): ReadonlyMap<string, Client> {
  return new Map(clients.map((client) => [client.id, client]));
}
