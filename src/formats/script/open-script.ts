import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { Container } from '../../authenticode/container.ts';
import { sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { isGiven } from '../../format/options.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import type { Detail } from '../../format/signature.ts';
import { scriptErrors, scriptWarnings } from './errors.ts';
import { scriptKindOf, WSH } from './kinds.ts';
import { blockOf, readLayout, type ScriptLayout } from './layout.ts';

export async function openScript(source: ByteSource, reader: ContentReader, name: string): Promise<SignableFile> {
  const kind = scriptKindOf(name);
  if (kind === undefined) throw new TypeError(`${name} was recognised as a script without its extension`);
  const layout = await readLayout(source, kind);
  const file = authenticodeFile(signatureBlock(source, layout, reader), reader.budget);
  const isWebScript = name.toLowerCase().endsWith('.js');
  return {
    ...file,
    signing: {
      ...file.signing,
      unusedOptions: isWebScript ? [] : [WSH],
      async check(context, mode) {
        if (isWebScript && !isGiven(context.formatOptions, WSH)) throw scriptErrors('wsh-not-allowed');
        return await file.signing.check(context, mode);
      },
    },
    layout: () => describe(layout),
  };
}

function signatureBlock(source: ByteSource, layout: ScriptLayout, { measure }: ContentReader): Container {
  const { kind, cms, lineEnds } = layout;
  return {
    source,
    warnings: lineEnds === 'LF' || lineEnds === 'mixed' ? [scriptWarnings('line-ends-fragile')] : [],
    kind: sipKind(kind.sip, kind.name),
    reasonForOneSignature: 'a script can have only one signature',
    entries: cms === undefined ? [] : [{ location: 'signature block', cms }],
    measure: async (_content, algorithms) => measure(source, [contentOf(layout)], algorithms),
    content: async () => spcSipInfo(kind.sip),
    write: (cms) => replaceBlock(layout, [blockOf(cms, layout)]),
    removeAll: async () => (cms === undefined ? undefined : replaceBlock(layout, [])),
  };
}

/** PowerShell also digests the BOM, and Windows Script Host the position of the signature block. */
function contentOf({ kind, bomLength, position: start, covered: [before, after] }: ScriptLayout): Uint8Array {
  if (kind.family === 'powershell') {
    return Buffer.from(`${bomLength === 0 ? '' : '\ufeff'}${before}${after}`, 'utf16le');
  }
  const position = Buffer.alloc(4);
  position.writeUInt32LE(start);
  return Buffer.concat([Buffer.from(before + after, 'utf16le'), position]);
}

function replaceBlock({ start, end }: ScriptLayout, insert: readonly Uint8Array[]): Patch {
  return [{ offset: start, remove: end - start, insert }];
}

function describe({ kind, encoding, bomLength, lineEnds, start, end, cms }: ScriptLayout): readonly Detail[] {
  return [
    { name: 'script', value: kind.name },
    { name: 'encoding', value: `${encoding}${bomLength === 0 ? '' : ' with BOM'}` },
    { name: 'line ends', value: lineEnds },
    { name: 'signature block', value: cms === undefined ? 'none' : `at byte ${start}, ${end - start} bytes` },
  ];
}
