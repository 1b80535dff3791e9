/** Declares plain ZIP archives, which cannot be signed. */

import type { Format } from '../../format/format.ts';
import { isApk } from '../zip-family.ts';

export const zip = {
  id: 'zip',
  title: 'ZIP archive',
  extensions: ['.zip'],
  signing: undefined,
  purpose: 'code-signing',
  recognition: { by: 'zip', folders: [], claims: (names, name) => (isApk(names, name) ? undefined : 'surely') },
  open: async (source) => (await import('./open-zip.ts')).openZip(source),
  seemsSigned: async () => false,
} as const satisfies Format;
