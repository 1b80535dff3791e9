// Finds the headers of Node.js on this machine, so that building the PKCS#11 addon downloads nothing.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * The folder for node-gyp's `nodedir`: the user's choice, else the headers of the running Node.js, else those of another Node.js
 * on this machine. These work too, because the addon uses only Node-API, which is the same in every version.
 */
export function findNodeHeaders() {
  const prefix = path.resolve(path.dirname(realpathSync(process.execPath)), '..');
  const candidates = [process.env.npm_config_nodedir, prefix, '/usr', '/usr/local', '/usr/include/nodejs'];
  return candidates.find((folder) => folder && existsSync(path.join(folder, 'include', 'node', 'node.h')));
}
