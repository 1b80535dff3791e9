import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';
import { INNER_PACKAGES } from '../../format/options.ts';
import { hasTrace } from '../trace.ts';
import { PARTS } from './part-names.ts';

const EXTENSIONS = ['.msix', '.appx', '.msixbundle', '.appxbundle'];

export const appx = {
  id: 'appx',
  title: 'Windows app package (MSIX, APPX)',
  extensions: EXTENSIONS,
  signing: { options: [...PROGRAM_OPTIONS, INNER_PACKAGES], modes: ['replace'] },
  purpose: 'code-signing',
  recognition: {
    by: 'zip',
    folders: ['appxmetadata/'],
    claims(names, name) {
      if (names.has(PARTS.package) || names.has(PARTS.bundle)) return 'surely';
      return EXTENSIONS.some((extension) => name.toLowerCase().endsWith(extension)) ? 'possibly' : undefined;
    },
  },
  open: async (source, reader) => (await import('./open-appx.ts')).openAppx(source, reader),
  seemsSigned: hasTrace(/AppxSignature\.p7x/i),
} as const satisfies Format;
