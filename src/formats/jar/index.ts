/** JAR: Java archives (JAR, WAR, EAR, RAR, AAR). What opens one is loaded when one is opened. */

import type { Format } from '../format.ts';
import { isNamedAsJar, JAR_EXTENSIONS, recogniseZip } from '../zip-family.ts';

export const jar: Format = {
  id: 'jar',
  title: 'Java archive (JAR)',
  extensions: JAR_EXTENSIONS,
  // By its manifest. Without one, the bytes do not tell a JAR from any other ZIP archive, and the name does.
  async detect(head, source, name) {
    const family = await recogniseZip(head, source, name);
    return family?.kind === 'jar' || (family?.kind === 'plain' && isNamedAsJar(name));
  },
  open: async (source, options) => (await import('./open-jar.ts')).openJar(source, options),
};
