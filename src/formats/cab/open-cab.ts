import { SPC_CAB_DATA, SPC_CAB_DATA_2, SPC_PE_IMAGE_DATA } from '../../asn1/object-identifiers.ts';
import type { Element } from '../../asn1/read.ts';
import { contextConstructed } from '../../asn1/write.ts';
import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { Container, SignedKind } from '../../authenticode/container.ts';
import { readLink, spcUnicode } from '../../authenticode/spc-structures.ts';
import { isPadding, readStoredCms, type StoredCms } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { malformed } from '../../cabinet/errors.ts';
import { broken } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { formatWarnings } from '../../format/errors.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import type { Detail } from '../../format/signature.ts';
import { contentOf, embedCms, type Head, headForSignature, removeCms } from './embed.ts';
import { areReserveSizesRight, type CabinetLayout, readLayout } from './layout.ts';

export async function openCab(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const head = await headForSignature(source, layout);
  const stored = layout.signature && (await readStoredCms(source, layout.signature));
  const container = signatureAtEnd({ layout, head, stored }, source, reader);
  return {
    ...authenticodeFile(container, reader.budget),
    layout: () => describe(layout),
    contents: {
      async *entries(neighbour) {
        yield* (await import('../cabinet-contents.ts')).cabinetFiles(source, neighbour);
      },
      changing: undefined,
    },
    listing: {
      as: 'cabinet',
      digests: async (algorithms) => (await container.measure('present', algorithms)).digests,
    },
  };
}

interface Cabinet {
  readonly layout: CabinetLayout;
  readonly head: Head;
  readonly stored: StoredCms | undefined;
}

const KIND: SignedKind = {
  dataType: SPC_CAB_DATA,
  // Data types that signtool (since SDK 26100), jsign and relic write.
  otherTypes: [SPC_CAB_DATA_2, SPC_PE_IMAGE_DATA],
  value: { name: 'link', examine: () => [], describe: describeLink },
};

function signatureAtEnd(cabinet: Cabinet, source: ByteSource, { measure }: ContentReader): Container {
  const { layout, head, stored } = cabinet;
  return {
    source,
    warnings: hiddenIn(cabinet).map((where) => formatWarnings('hidden-bytes-dropped', { where })),
    kind: KIND,
    entries: stored === undefined ? [] : [{ location: 'end of the cabinet', cms: stored.cms }],
    async measure(content, algorithms) {
      if (content === 'new' && !(await areReserveSizesRight(source, layout)))
        throw malformed('its data blocks do not end where its data ends');
      const draft = head.shift === 0 ? undefined : () => embedCms(layout, head, new Uint8Array());
      return measure(source, await contentOf(source, layout, content), algorithms, draft);
    },
    content: async () => ({ type: SPC_CAB_DATA, value: contextConstructed(2, spcUnicode('<<<Obsolete>>>')) }),
    write: (cms) => embedCms(layout, head, cms),
    removeAll: async () => stored && removeCms(source, layout),
    async examine() {
      if (stored === undefined) return [];
      const hidden = hiddenIn(cabinet).map((where) =>
        broken('hidden-bytes', `Bytes that no signature covers are hidden ${where}.`),
      );
      return (await areReserveSizesRight(source, layout)) ? hidden : [...hidden, RESERVE_SIZES_DIFFER];
    },
  };
}

const RESERVE_SIZES_DIFFER = broken(
  'reserve-sizes-differ',
  'The sizes of the reserved areas, which no signature covers, were changed, so that programs unpack other bytes.',
);

function hiddenIn({ layout: { reserve }, stored }: Cabinet): readonly string[] {
  return [
    ...(reserve?.block2.subarray(8).some((byte) => byte !== 0) ? ["in the reserved area of the cabinet's header"] : []),
    ...(stored === undefined || isPadding(stored.rest) ? [] : ['after the signature']),
  ];
}

/** Most programs write an SpcLink, but jsign and relic write SpcPeImageData. */
function describeLink(value: Element): readonly Detail[] {
  return value.tag === 0x30 ? [] : [{ name: 'link', value: readLink(value) }];
}

function describe({ cabinetSize, folderCount, reserve, signature }: CabinetLayout): readonly Detail[] {
  const signed = signature && `at byte ${signature.start}, ${signature.end - signature.start} bytes`;
  return [
    { name: 'cabinet', value: `${cabinetSize} bytes, ${plural(folderCount, 'folder')}` },
    { name: 'reserved area', value: reserve === undefined ? 'none' : plural(reserve.length, 'byte') },
    { name: 'signature', value: signed ?? 'none' },
  ];
}
