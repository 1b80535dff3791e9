/** Where each platform keeps settings. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configFolder } from '../../../src/bytes/platform-folders.ts';

const home = '/home/me';

test.each<[NodeJS.Platform, Record<string, string>, string]>([
  ['linux', {}, join(home, '.config', 'codesign-remote')],
  ['linux', { XDG_CONFIG_HOME: '/cfg' }, join('/cfg', 'codesign-remote')],
  ['linux', { XDG_CONFIG_HOME: 'relative' }, join(home, '.config', 'codesign-remote')],
  ['darwin', { XDG_CONFIG_HOME: '/cfg' }, join(home, 'Library', 'Preferences', 'codesign-remote')],
  ['win32', {}, join(home, 'AppData', 'Roaming', 'codesign-remote')],
  ['win32', { APPDATA: '/roaming' }, join('/roaming', 'codesign-remote')],
  ['linux', { CODESIGN_CONFIG_DIR: 'mine', XDG_CONFIG_HOME: '/cfg' }, 'mine'],
])('%s %j', (platform, environment, folder) => {
  expect(configFolder({ environment, platform, home })).toBe(folder);
});
