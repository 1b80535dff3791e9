/** How a command's action is run: types only. */

import type { Io } from '../io.ts';

/** Runs an action and keeps its exit code. The action imports what it needs when it runs. */
export type Run = (action: (io: Io) => Promise<number>) => Promise<void>;
