/** The name of Python's program. */

import { existsSync } from 'node:fs';

const OF_SYSTEM = '/usr/bin/python3';

/** On Linux that of the system: what version managers put in front of it takes 0.7 s of processor time for each start. */
export const PYTHON = process.platform === 'linux' && existsSync(OF_SYSTEM) ? OF_SYSTEM : 'python3';
