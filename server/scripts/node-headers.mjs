// Where the headers of Node.js lie on this machine, so that building the PKCS#11 addon downloads nothing.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * The folder to give node-gyp as `nodedir`: what the user names, else what came with the running Node, else headers of
 * another Node on this machine, which do as well: the addon keeps to Node-API, the same in every version.
 */
export function findNodeHeaders() {
  const prefix = path.resolve(path.dirname(realpathSync(process.execPath)), '..');
  const candidates = [process.env.npm_config_nodedir, prefix, '/usr', '/usr/local', '/usr/include/nodejs'];
  return candidates.find((folder) => folder && existsSync(path.join(folder, 'include', 'node', 'node.h')));
}
