/** The commands about who may look at the operator's page. */

import { serverError } from '../errors.ts';
import { chooseReceiver, give, newViewerCredentials } from '../setup/hand-over.ts';
import type { DataConfig } from './config.ts';
import { type Columns, type ListOptions, printList } from './list.ts';
import { type AdminSurroundings, withStore } from './surroundings.ts';
import { readName, readTime } from './values.ts';

export interface ViewerAddOptions {
  readonly name?: string;
  readonly expires?: string;
  readonly viewerEnv?: string;
}

/** `viewer add`: shows the secret this one time. @throws ServerError */
export async function viewerAdd(
  config: DataConfig,
  { name, expires, viewerEnv }: ViewerAddOptions,
  { terminal, now, announce }: AdminSurroundings,
): Promise<void> {
  const viewer = {
    name: name && readName('--name', name),
    expiresAt: expires === undefined ? undefined : readTime('--expires', expires),
  };
  const receiver = await chooseReceiver(viewerEnv, config.dataRoot, terminal, '--viewer-env');
  await withStore(config, async ({ viewers }) => {
    const { accessSecret, ...credentials } = newViewerCredentials();
    const { accessKey } = credentials;
    await viewers.add({ ...credentials, ...viewer }, now());
    try {
      await give(
        receiver,
        [
          ['CODESIGN_VIEWER_ACCESS_KEY', accessKey],
          ['CODESIGN_VIEWER_ACCESS_SECRET', accessSecret],
        ],
        "User name and password for the server's page",
      );
    } catch (error) {
      await viewers.remove(accessKey); // nobody has its secret
      throw error;
    }
    announce(accessKey);
  });
}

/** `viewer list`. */
export async function viewerList(
  config: DataConfig,
  options: ListOptions,
  { announce, now }: AdminSurroundings,
): Promise<void> {
  const viewers = await withStore(config, (store) => store.viewers.list());
  const rows = viewers.map(({ accessKey, name = null, expiresAt = null }) => {
    return { accessKey, name, state: expiresAt === null || now() < expiresAt ? 'active' : 'expired', expiresAt };
  });
  const columns: Columns<(typeof rows)[number]> = {
    'ACCESS KEY': ({ accessKey }) => accessKey,
    NAME: ({ name }) => name ?? '',
    STATE: ({ state }) => state,
    EXPIRES: ({ expiresAt }) => expiresAt?.toISOString() ?? 'never',
  };
  printList(rows, columns, options, announce);
}

/** `viewer remove`: known at the next call. @throws `viewer-not-found` */
export async function viewerRemove(config: DataConfig, accessKey: string): Promise<void> {
  const known = await withStore(config, (store) => store.viewers.remove(accessKey));
  if (!known) throw serverError('viewer-not-found', { accessKey });
}
