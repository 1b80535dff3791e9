/** Every format there is: one line each. */

import type { Format } from './format.ts';
import { jar } from './jar/index.ts';
import { pe } from './pe/index.ts';

export const formats: readonly Format[] = [pe, jar];
