/** One detached CMS covers some of the lines, as rdpsign creates it. */

import { TIMESTAMP_TOKEN } from '../../asn1/object-identifiers.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Edit, Patch } from '../../bytes/pieces.ts';
import { broken, type Finding } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import type { SignatureProfile } from '../../format/cms.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import type { Detail } from '../../format/signature.ts';
import { type CmsHolder, cmsFile } from '../cms-file.ts';
import { rdpErrors } from './errors.ts';
import { encode, type RdpLayout, readLayout, SCOPE, SIGNATURE, signatureValue } from './layout.ts';
import { ALTERNATE_FULL_ADDRESS, COVERED_SETTINGS, FULL_ADDRESS } from './settings.ts';

export const RDP_PROFILE: SignatureProfile = {
  signedAttributes: () => [],
  carriesRoot: false,
  // rdpsign and Remote Desktop Connection use no timestamps. Other readers of CMS find them in this attribute.
  timestampTypes: [TIMESTAMP_TOKEN],
  verifier: 'A reader of CMS',
};

export async function openRdp(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  return {
    ...cmsFile(signatureLines(layout), reader.budget),
    layout: () => describe(layout),
  };
}

function signatureLines(layout: RdpLayout): CmsHolder {
  const { settings, cms } = layout;
  return {
    profile: RDP_PROFILE,
    location: 'lines signscope and signature',
    reasonForOneSignature: 'a connection file can have only one signature',
    stored: cms,
    newContent() {
      const { lines, scope } = newCoverage(layout);
      return contentOf(lines, scope);
    },
    presentContent() {
      const lines = namesInScope(layout).flatMap((name) => settings.get(name)?.text ?? []);
      return contentOf(lines, settings.get(SCOPE)?.text ?? '');
    },
    examine: () => examineScope(layout),
    details: () => [{ name: 'covered settings', value: settings.get(SCOPE)?.value || 'none' }],
    write(newCms) {
      const { added, scope } = newCoverage(layout);
      const lines = [...added, scope, `Signature:s:${signatureValue(newCms)}`].map((line) => `${line}\r\n`);
      return replaceSignature(layout, lines.join(''));
    },
    replace: (newCms) => replaceValue(layout, signatureValue(newCms)),
    removeAll: () => replaceSignature(layout, ''),
  };
}

/** UTF-16LE without a BOM: lines end with CR LF, and the text with a NUL. */
function contentOf(lines: readonly string[], scope: string): Uint8Array {
  return Buffer.from(`${[...lines, scope].join('\r\n')}\r\n\0`, 'utf16le');
}

function newCoverage({ settings, encoding, hasBom }: RdpLayout) {
  const address = settings.get(FULL_ADDRESS.toLowerCase());
  if (address === undefined) throw rdpErrors('rdp-address-missing');
  const added = settings.has(ALTERNATE_FULL_ADDRESS.toLowerCase())
    ? []
    : [`${ALTERNATE_FULL_ADDRESS}:s:${address.value}`];
  const covered = [...COVERED_SETTINGS].flatMap(([key, name]) => {
    const line = settings.get(key)?.text ?? (name === ALTERNATE_FULL_ADDRESS ? added[0] : undefined);
    return line === undefined ? [] : [{ name, line }];
  });
  const lines = covered.map(({ line }) => line);
  if (!hasBom && lines.some((line) => !/^[\0-\x7f]*$/.test(line))) {
    const problem = `a signed setting contains non-ASCII characters, but the file has no BOM (this program reads it as ${encoding})`;
    throw rdpErrors('rdp-encoding', { problem });
  }
  return { lines, added, scope: `SignScope:s:${covered.map(({ name }) => name).join(',')}` };
}

/** Returns at most one name more than there are settings, because a hostile scope can be long. */
function namesInScope({ settings }: RdpLayout): readonly string[] {
  const names = (settings.get(SCOPE)?.value ?? '').split(',', COVERED_SETTINGS.size + 1);
  return names.map((name) => name.trim().toLowerCase());
}

function examineScope(layout: RdpLayout): readonly Finding[] {
  const names = namesInScope(layout);
  const findings: Finding[] = [];
  const isWrong = (name: string, index: number) =>
    !COVERED_SETTINGS.has(name) || !layout.settings.has(name) || names.indexOf(name) !== index;
  const wrong = names.filter(isWrong);
  if (wrong.length > 0) {
    const message = `The signature lists settings that are missing, that it cannot cover, or that it lists twice: ${namesText(wrong)}.`;
    findings.push(broken('rdp-scope-wrong', message));
  }
  const uncovered = [...COVERED_SETTINGS].filter(([key]) => layout.settings.has(key) && !names.includes(key));
  if (uncovered.length > 0) {
    const message = `The signature does not cover these settings: ${namesText(uncovered.map(([, name]) => name))}.`;
    findings.push(broken('rdp-settings-uncovered', message));
  }
  return findings;
}

function namesText(names: readonly string[]): string {
  const most = 8;
  return [...names.slice(0, most), ...(names.length > most ? [`and ${names.length - most} more`] : [])].join(', ');
}

/** The existing lines may be anywhere in the file. */
function replaceSignature({ text, encoding, settings }: RdpLayout, lines: string): Patch {
  const offsetOf = (position: number) => encode(text.slice(0, position), encoding).length;
  const going = [SCOPE, SIGNATURE]
    .flatMap((name) => settings.get(name) ?? [])
    .toSorted((one, other) => one.start - other.start);
  const edits: Edit[] = going.map(({ start, end }) => {
    const offset = offsetOf(start);
    return { offset, remove: offsetOf(end) - offset, insert: [] };
  });
  const rest = going.toReversed().reduce((left, { start, end }) => left.slice(0, start) + left.slice(end), text);
  const separator = lines === '' || rest.endsWith('\n') ? '' : '\r\n';
  const end = encode(text, encoding).length;
  return lines === '' ? edits : [...edits, { offset: end, remove: 0, insert: [encode(separator + lines, encoding)] }];
}

/** The signature covers the scope, so that line stays. */
function replaceValue({ text, encoding, settings }: RdpLayout, value: string): Patch {
  const line = settings.get(SIGNATURE);
  if (line === undefined) throw new TypeError('there is a signature to replace');
  const end = line.start + line.text.length;
  const offsetOf = (position: number) => encode(text.slice(0, position), encoding).length;
  const offset = offsetOf(end - line.value.length);
  return [{ offset, remove: offsetOf(end) - offset, insert: [encode(value, encoding)] }];
}

function describe({ encoding, hasBom, lineCount, settings, cms }: RdpLayout): readonly Detail[] {
  const covered = [...COVERED_SETTINGS.keys()].filter((key) => settings.has(key));
  return [
    { name: 'encoding', value: `${encoding}${hasBom ? ' with BOM' : ''}` },
    { name: 'settings', value: `${plural(lineCount, 'line')}, ${covered.length} of them can be signed` },
    { name: 'signature', value: cms === undefined ? 'none' : `${cms.length} bytes` },
  ];
}
