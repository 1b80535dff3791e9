import type { Format } from '../../format/format.ts';
import { hasTrace } from '../trace.ts';
import { hasManifest } from '../zip-family.ts';
import { isNamedAsJar, JAR_EXTENSIONS, SIGNER_NAME } from './options.ts';

export const jar = {
  id: 'jar',
  title: 'Java archive (JAR)',
  extensions: JAR_EXTENSIONS,
  signing: { options: [SIGNER_NAME], modes: ['replace', 'append'] },
  purpose: 'code-signing',
  recognition: {
    by: 'zip',
    folders: ['meta-inf/'],
    // Without a manifest, only the file name distinguishes a JAR from other ZIP archives.
    claims: (names, name) => (hasManifest(names) || isNamedAsJar(name) ? 'possibly' : undefined),
  },
  open: async (source, reader, name) => (await import('./open-jar.ts')).openJar(source, reader, name),
  seemsSigned: hasTrace(/META-INF\/[^/\0]{1,512}\.SF/i),
} as const satisfies Format;
