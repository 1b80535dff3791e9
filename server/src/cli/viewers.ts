import type { Command } from 'commander';
import { type DataOptions, readConfig } from '../config.ts';
import { whyRejected } from '../http/auth.ts';
import { chooseReceiver, credentialVariables, give, newCredentials } from '../setup/credentials.ts';
import type { Surroundings } from '../start.ts';
import { dataCommand, holderNamed, listCommand, operationOf, withStore } from './data.ts';
import { EXPIRES, readName, readTime } from './values.ts';

const NEW_FILE = 'path of a new file for the access key and secret (default: print to the terminal)';

export function addViewerCommands(program: Command, surroundings: Surroundings): void {
  const { environment, now, announce, terminal } = surroundings;
  const viewer = program.command('viewer').description('manages the viewers of the page at /; viewers cannot sign');

  dataCommand(viewer, 'add', 'adds a viewer, shows its secret once, and prints its access key')
    .option('--name <name>', 'display name of the viewer')
    .option('--expires <time>', EXPIRES)
    .option('--viewer-env <path>', NEW_FILE)
    .action(
      async (options: DataOptions & { name?: string; expires?: string; viewerEnv?: string }, command: Command) => {
        const { name, expires, viewerEnv } = options;
        const about = {
          name: name ? readName('--name', name) : undefined,
          expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
        };
        const { dataRoot } = readConfig(options, environment);
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

  listCommand(viewer, 'lists the access key, name, state and expiry date of each viewer', surroundings, async (store) =>
    (await store.viewers.list()).map((each) => {
      const { accessKey, name = null, expiresAt = null } = each;
      return { accessKey, name, state: whyRejected(each, now()) ?? 'active', expiresAt };
    }),
  );

  dataCommand(viewer, 'remove <viewer>', "removes a viewer, and rejects the viewer's further requests").action(
    async (given: string, options: DataOptions, command: Command) =>
      await withStore(options, surroundings, async (store) => {
        const { accessKey: target } = holderNamed('viewer', await store.viewers.list(), given);
        await store.change({ ...operationOf(command, surroundings), target }, ({ viewers }) => viewers.remove(target));
      }),
  );
}
