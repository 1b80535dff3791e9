import type { Format } from '../../format/format.ts';
import { hasTrace } from '../trace.ts';
import { hasManifest, type Names } from '../zip-family.ts';

const EXTENSIONS = ['.nupkg', '.snupkg'] as const;

export const nuget = {
  id: 'nuget',
  title: 'NuGet package',
  extensions: EXTENSIONS,
  signing: { options: [], modes: ['replace'], signsTime: true },
  purpose: 'code-signing',
  recognition: { by: 'zip', folders: [], claims: claimOf },
  open: async (source, reader) => (await import('./open-nuget.ts')).openNuget(source, reader),
  seemsSigned: hasTrace(/\.signature\.p7s/i),
} as const satisfies Format;

/** If a JAR contains a `.nuspec` file, the file name decides which format the file has. */
function claimOf(names: Names, name: string): 'surely' | 'possibly' | undefined {
  if (![...names].some((each) => !each.includes('/') && each.toLowerCase().endsWith('.nuspec'))) return undefined;
  if (EXTENSIONS.some((extension) => name.toLowerCase().endsWith(extension))) return 'surely';
  const hasParts = names.has('_rels/.rels') || names.has('[Content_Types].xml');
  return hasParts && !hasManifest(names) ? 'surely' : 'possibly';
}
