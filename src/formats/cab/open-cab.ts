import { SPC_CAB_DATA, SPC_CAB_DATA_2, SPC_PE_IMAGE_DATA } from '../../asn1/object-identifiers.ts';
import type { Element } from '../../asn1/read.ts';
import { contextConstructed } from '../../asn1/write.ts';
import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import { type CmsEntry, type Container, digestIn, type SignedKind } from '../../authenticode/container.ts';
import { readLink, spcContent, spcUnicode } from '../../authenticode/spc-structures.ts';
import { isPadding, readStoredCms, type StoredCms } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { malformed } from '../../cabinet/errors.ts';
import { broken } from '../../errors/finding.ts';
import { plural } from '../../errors/plural.ts';
import { formatErrors, formatWarnings } from '../../format/errors.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import type { Detail } from '../../format/signature.ts';
import { contentOf, embedCms, headForSignature, removeCms } from './embed.ts';
import { areReserveSizesRight, type CabinetLayout, readLayout } from './layout.ts';

export async function openCab(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const layout = await readLayout(source);
  const head = await headForSignature(source, layout);
  const cabinet: Cabinet = { layout, head, stored: await storedIn(source, layout) };
  const container = signatureAtEnd(cabinet, source, reader);
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
  readonly head: Awaited<ReturnType<typeof headForSignature>>;
  readonly stored: StoredCms | undefined;
}

async function storedIn(source: ByteSource, { signature }: CabinetLayout): Promise<StoredCms | undefined> {
  return signature === undefined ? undefined : readStoredCms(source, signature);
}

const KIND: SignedKind = {
  dataType: SPC_CAB_DATA,
  // signtool in SDK 26100, jsign and relic write one of these data types.
  otherTypes: [SPC_CAB_DATA_2, SPC_PE_IMAGE_DATA],
  value: { name: 'link', examine: () => [], describe: describeLink },
};

function signatureAtEnd(cabinet: Cabinet, source: ByteSource, { measure }: ContentReader): Container {
  const { layout, head, stored } = cabinet;
  return {
    source,
    warnings: hiddenIn(cabinet).map((where) => formatWarnings('hidden-bytes-dropped', { where })),
    kind: KIND,
    entries: async () => (stored === undefined ? [] : [entryOf(stored)]),
    async measure(content, algorithms) {
      // Otherwise, `verify` would report the signed cabinet as broken.
      if (content === 'new' && !(await areReserveSizesRight(source, layout)))
        throw malformed('its data blocks do not end where its data ends');
      const draft = head.shift === 0 ? undefined : () => embedCms(layout, head, new Uint8Array());
      return measure(source, await contentOf(source, layout, content), algorithms, draft);
    },
    content: async ({ algorithm }, measured) => {
      const value = contextConstructed(2, spcUnicode('<<<Obsolete>>>'));
      return spcContent({ type: SPC_CAB_DATA, value }, algorithm, digestIn(measured, algorithm));
    },
    write: (cms) => embedCms(layout, head, cms),
    async removeAll() {
      if (layout.signature === undefined) throw formatErrors('not-signed');
      return removeCms(source, layout);
    },
    async examine() {
      if (layout.signature === undefined) return [];
      const hidden = hiddenIn(cabinet).map((where) =>
        broken('hidden-bytes', `Bytes that no signature covers are hidden ${where}.`),
      );
      return (await areReserveSizesRight(source, layout)) ? hidden : [...hidden, RESERVE_SIZES_DIFFER];
    },
  };
}

function entryOf({ cms }: StoredCms): CmsEntry {
  return { location: 'end of the cabinet', cms };
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
  return [
    { name: 'cabinet', value: `${cabinetSize} bytes, ${plural(folderCount, 'folder')}` },
    { name: 'reserved area', value: reserve === undefined ? 'none' : plural(reserve.length, 'byte') },
    {
      name: 'signature',
      value: signature === undefined ? 'none' : `at byte ${signature.start}, ${signature.end - signature.start} bytes`,
    },
  ];
}
