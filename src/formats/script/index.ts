import { PROGRAM_OPTIONS } from '../../authenticode/program-info.ts';
import type { Format } from '../../format/format.ts';
import { hasTrace, inAnyEncoding } from '../trace.ts';
import { extensionsOf, type ScriptKind, scriptKindOf, WSH } from './kinds.ts';

const COMMON = {
  purpose: 'code-signing',
  open: async (source, reader, name) => (await import('./open-script.ts')).openScript(source, reader, name),
  seemsSigned: hasTrace(inAnyEncoding('signature block')),
} as const satisfies Partial<Format>;

const RULES = { modes: ['replace'], keepsExtension: true } as const;

/** Only the extension shows the type of a script. */
const claims = (family: ScriptKind['family']) =>
  ({ by: 'bytes', claims: (_head: Uint8Array, name: string) => scriptKindOf(name)?.family === family }) as const;

export const powershell = {
  ...COMMON,
  id: 'powershell',
  title: 'PowerShell script',
  extensions: extensionsOf('powershell'),
  signing: { ...RULES, options: PROGRAM_OPTIONS },
  recognition: claims('powershell'),
} as const satisfies Format;

export const wsh = {
  ...COMMON,
  id: 'wsh',
  title: 'Windows Script Host script',
  extensions: extensionsOf('wsh').filter((extension) => extension !== '.js'),
  // Most JavaScript files are not for Windows Script Host.
  onlyIfNamed: ['.js'],
  signing: { ...RULES, options: [...PROGRAM_OPTIONS, WSH] },
  recognition: claims('wsh'),
} as const satisfies Format;
