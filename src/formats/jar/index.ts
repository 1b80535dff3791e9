/** JAR: Java archives (JAR, WAR, EAR, RAR, AAR). What opens one is loaded when one is opened. */

import type { Format } from '../format.ts';
import { isNamedAsJar, JAR_EXTENSIONS, recogniseZip } from '../zip-family.ts';
import { ALLOW_UNSIGNED_RESULT, SIGNER_NAME } from './options.ts';

export const jar = {
  id: 'jar',
  title: 'Java archive (JAR)',
  extensions: JAR_EXTENSIONS,
  options: [SIGNER_NAME, ALLOW_UNSIGNED_RESULT],
  modes: ['replace', 'append'],
  defaultMode: 'replace',
  purpose: 'code-signing',
  // By its manifest. Without one, the bytes do not tell a JAR from any other ZIP archive, and the name does.
  async detect(head, source, name) {
    const family = await recogniseZip(head, source, name);
    return family?.kind === 'jar' || (family?.kind === 'plain' && isNamedAsJar(name));
  },
  open: async (source, reader, name) => (await import('./open-jar.ts')).openJar(source, reader, name),
} as const satisfies Format;
