import type { Command } from 'commander';
import type { DataOptions } from '../config.ts';
import type { Surroundings } from '../start.ts';
import { type ListOptions, printList } from '../text.ts';
import { listCommand, withStore } from './data.ts';
import { readLimit, readPeriod } from './values.ts';

export function addAuditCommands(program: Command, surroundings: Surroundings): void {
  const audit = program.command('audit').description('what operators changed');
  listCommand(audit, 'list', 'lists time, operator, host, command, target and details', { isDefault: true })
    .option('--since <time>', 'only from this time on, as in 2030-12-31 or 2030-12-31T18:00:00Z')
    .option('--until <time>', 'only before this time')
    .option('--limit <n>', 'number of latest changes', '50')
    .action(async (options: DataOptions & ListOptions & { since?: string; until?: string; limit: string }) => {
      const [period, limit] = [readPeriod(options), readLimit(options.limit)];
      const rows = await withStore(options, surroundings, (store) => store.audit.list(period, limit));
      printList(rows, options, surroundings.announce);
    });
}
