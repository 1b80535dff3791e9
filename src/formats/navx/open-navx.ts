import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import { type Container, digestIn } from '../../authenticode/container.ts';
import { type Sip, sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import { spcContent } from '../../authenticode/spc-structures.ts';
import { isPadding, readStoredCms, type StoredCms } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import { broken } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { formatErrors } from '../../format/errors.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import { BLOCK_MARK, type NavxLayout, readLayout } from './layout.ts';

/** GUID of the plug-in of Business Central. signtool writes another one each time, and no verifier compares it. */
const SIP: Sip = { version: [1], guid: '36FFA03E-F824-48E7-8E07-4A2DCB034CC7' };

interface Extension {
  readonly layout: NavxLayout;
  readonly stored: StoredCms | undefined;
}

export async function openNavx(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const stored = layout.signature && (await readStoredCms(source, layout.signature));
  const { version, packageEnd, signature } = layout;
  return {
    ...authenticodeFile(signatureBlock({ layout, stored }, source, reader), reader.budget),
    layout: () => [
      { name: 'version', value: String(version) },
      { name: 'package end', value: `byte ${packageEnd}` },
      { name: 'signature', value: signature === undefined ? 'none' : `${signature.end - signature.start} bytes` },
    ],
  };
}

function signatureBlock({ layout, stored }: Extension, source: ByteSource, { measure }: ContentReader): Container {
  const { packageEnd, fileSize } = layout;
  const hidden = stored === undefined || isPadding(stored.rest) ? 0 : stored.rest.length;
  const replaceBlock = (insert: readonly Uint8Array[]): Patch => [
    { offset: packageEnd, remove: fileSize - packageEnd, insert },
  ];
  return {
    source,
    warnings: [],
    kind: sipKind(undefined, 'a Business Central extension'),
    reasonForOneSignature: 'an extension holds one signature',
    reasonNotRewritable: undefined,
    entries: async () =>
      stored === undefined ? [] : [{ location: 'signature block', cms: stored.cms, examine: async () => [] }],
    measure: async (_content, algorithms) => measure(source, [{ start: 0, end: packageEnd }], algorithms),
    content: async ({ algorithm }, measured) => spcContent(spcSipInfo(SIP), algorithm, digestIn(measured, algorithm)),
    write(cms) {
      const mark = Buffer.from(BLOCK_MARK);
      const offset = Buffer.alloc(4);
      offset.writeUInt32LE(packageEnd);
      return replaceBlock([mark, cms, offset, mark]);
    },
    async removeAll() {
      if (layout.signature === undefined) throw formatErrors('not-signed');
      return replaceBlock([]);
    },
    async examine() {
      if (hidden === 0) return [];
      const message = `The file hides ${plural(hidden, 'byte')} after the signature, which no signature covers.`;
      return [broken('hidden-bytes', message)];
    },
  };
}
