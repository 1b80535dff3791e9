import { extname } from 'node:path';
import type { Sip } from '../../authenticode/sip-info.ts';
import type { FormatOption } from '../../format/options.ts';

interface BlockStyle {
  readonly begin: string;
  readonly end: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly width: number;
  /** Texts that must not occur outside the block. */
  readonly markers: readonly string[];
}

export interface ScriptKind extends BlockStyle {
  readonly family: 'powershell' | 'wsh';
  readonly sip: Sip;
  readonly name: string;
  /** The block is written before the last occurrence of this text. By default, the block is at the end of the file. */
  readonly before?: string;
}

const POWERSHELL: Sip = { version: [1, 0, 0], guid: '603BCC1F-4B59-4E08-B724-D2C6297EF351' };
const JSCRIPT: Sip = { version: [1], guid: '06C9E010-38CE-11D4-A2A3-00104BD35090' };
const VBSCRIPT: Sip = { version: [1], guid: '1629F04E-2799-4DB5-8FE5-ACE10F17EBAB' };
const WSF: Sip = { version: [1], guid: '1A610570-38CE-11D4-A2A3-00104BD35090' };

function powerShell(prefix: string, suffix: string): ScriptKind {
  const words = ['SIG # Begin signature block', 'SIG # End signature block'] as const;
  const [begin, end] = words.map((text) => `${prefix}${text}${suffix}`) as [string, string];
  const style = { begin, end, prefix, suffix, width: 64, markers: words };
  return { ...style, family: 'powershell', sip: POWERSHELL, name: 'a PowerShell script' };
}

function scriptHost(prefix: string, sip: Sip, name: string): ScriptKind {
  const [begin, end] = [`${prefix}Begin signature block`, `${prefix}End signature block`];
  const style = { begin, end, prefix, suffix: '', width: 44, markers: [begin, end] };
  return { ...style, family: 'wsh', sip, name };
}

const HASH_LINES = powerShell('# ', '');
const XML_COMMENTS = powerShell('<!-- ', ' -->');
const JSCRIPT_LINES = scriptHost('// SIG // ', JSCRIPT, 'a JScript file');
const VBSCRIPT_LINES = scriptHost("'' SIG '' ", VBSCRIPT, 'a VBScript file');
const SIGNATURE_ELEMENT: ScriptKind = {
  ...scriptHost('** SIG ** ', WSF, 'a Windows Script file'),
  begin: '<signature>',
  end: '</signature>',
  markers: ['<signature>', '</signature>', '** SIG **'],
  before: '</job>',
};

const KINDS: ReadonlyMap<string, ScriptKind> = new Map([
  ['.ps1', HASH_LINES],
  ['.psm1', HASH_LINES],
  ['.psd1', HASH_LINES],
  ['.ps1xml', XML_COMMENTS],
  ['.psc1', XML_COMMENTS],
  ['.cdxml', XML_COMMENTS],
  ['.mof', powerShell('/* ', ' */')],
  ['.js', JSCRIPT_LINES],
  ['.jse', JSCRIPT_LINES],
  ['.vbs', VBSCRIPT_LINES],
  ['.vbe', VBSCRIPT_LINES],
  ['.wsf', SIGNATURE_ELEMENT],
]);

export function scriptKindOf(name: string): ScriptKind | undefined {
  return KINDS.get(extname(name).toLowerCase());
}

export function extensionsOf(family: ScriptKind['family']): readonly string[] {
  return [...KINDS].filter(([, kind]) => kind.family === family).map(([extension]) => extension);
}

export const WSH = {
  key: 'wsh',
  flag: '--wsh',
  appliesTo: '.js files',
  help: 'also sign .js files, as scripts for Windows Script Host',
  group: 'Windows',
} as const satisfies FormatOption;
