import type { Command } from 'commander';
import { type DataOptions, dataConfig } from '../config.ts';
import { chooseReceiver, credentialVariables, give, newCredentials } from '../setup/credentials.ts';
import type { Surroundings } from '../start.ts';
import { type ListOptions, printList } from '../text.ts';
import { dataCommand, holderNamed, listCommand, withStore } from './data.ts';
import { operationOf } from './operation.ts';
import { EXPIRES, readName, readTime } from './values.ts';

const NEW_FILE = 'new file for access key and secret, instead of the terminal';

export function addViewerCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce, terminal } = surroundings;
  const viewer = program.command('viewer').description('viewers of the page at /, who cannot sign');

  dataCommand(viewer, 'add', 'adds a viewer, shows its secret once, and prints its access key')
    .option('--name <name>', 'name for people')
    .option('--expires <time>', EXPIRES)
    .option('--viewer-env <path>', NEW_FILE)
    .action(
      async (options: DataOptions & { name?: string; expires?: string; viewerEnv?: string }, command: Command) => {
        const { name, expires, viewerEnv } = options;
        const about = {
          name: name ? readName('--name', name) : undefined,
          expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
        };
        const { dataRoot } = dataConfig(options, environment);
        const receiver = await chooseReceiver(viewerEnv, dataRoot, terminal, '--viewer-env');
        await withStore(options, surroundings, async (store) => {
          const { accessSecret, ...credentials } = newCredentials('VK');
          const { accessKey } = credentials;
          const variables = credentialVariables(accessKey, accessSecret, 'CODESIGN_VIEWER');
          const operation = { ...operationOf(command, surroundings), target: accessKey };
          const add = () => store.change(operation, ({ viewers }) => viewers.add({ ...credentials, ...about }, now()));
          await give(receiver, variables, add, "User name and password for the server's page");
          announce(accessKey);
        });
      },
    );

  listCommand(viewer, 'list', 'lists access key, name, state and expiry').action(
    async (options: DataOptions & ListOptions) => {
      const viewers = await withStore(options, surroundings, (store) => store.viewers.list());
      const rows = viewers.map(({ accessKey, name = null, expiresAt = null }) => {
        return { accessKey, name, state: expiresAt === null || now() < expiresAt ? 'active' : 'expired', expiresAt };
      });
      printList(rows, options, announce);
    },
  );

  dataCommand(viewer, 'remove <viewer>', 'removes a viewer; takes effect at the next call').action(
    async (given: string, options: DataOptions, command: Command) =>
      await withStore(options, surroundings, async (store) => {
        const { accessKey: target } = holderNamed('viewer', await store.viewers.list(), given);
        await store.change({ ...operationOf(command, surroundings), target }, ({ viewers }) => viewers.remove(target));
      }),
  );
}
