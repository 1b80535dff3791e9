import { authenticodeFile } from '../../authenticode/authenticode-file.ts';
import type { Container, MeasuredContent } from '../../authenticode/container.ts';
import { type Sip, sipKind, spcSipInfo } from '../../authenticode/sip-info.ts';
import { isPadding, LONGEST_CMS, type StoredCms, splitCms, TOO_LONG } from '../../authenticode/stored-cms.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { Patch } from '../../bytes/pieces.ts';
import type { CompoundStorage, CompoundStream } from '../../compound-file/format.ts';
import { readCompoundFile, readStream } from '../../compound-file/read.ts';
import { layOut, newStream } from '../../compound-file/write.ts';
import type { ContentDigest } from '../../crypto/measure-content.ts';
import { formatErrors, formatWarnings } from '../../format/errors.ts';
import type { ContentReader, SignableFile } from '../../format/signable-file.ts';
import {
  contentOf,
  digestMetadata,
  METADATA_STREAM,
  SIGNATURE_STREAM,
  SIP_VERSION,
  withoutSignature,
} from './content.ts';
import { msiWarnings } from './errors.ts';
import {
  describeInstaller,
  examineInstaller,
  examineMetadata,
  type Installer,
  installerKindOf,
  trailingBytes,
} from './examine.ts';

const SIP_GUID = '000C10F1-0000-0000-C000-000000000046';
const sipOf = (hasMetadata: boolean): Sip => ({
  version: [hasMetadata ? SIP_VERSION.withMetadata : SIP_VERSION.withoutMetadata],
  guid: SIP_GUID,
});

const LONGEST_METADATA = 64;

export async function openMsi(source: ByteSource, reader: ContentReader): Promise<SignableFile> {
  const file = await readCompoundFile(source);
  const kind = installerKindOf(file.root);
  const [signature, metadata] = [SIGNATURE_STREAM, METADATA_STREAM].map((name) => streamOf(file.root, name));
  const installer: Installer = {
    kind,
    file,
    root: withoutSignature(file.root),
    stored: signature && (await readSignature(source, signature)),
    metadata: metadata && (await readMetadata(source, metadata)),
    trailing: await trailingBytes(source, file),
  };
  const { stored } = installer;
  const opened = authenticodeFile(signatureStream(installer, source, reader), reader.budget);
  return {
    ...opened,
    signing: {
      ...opened.signing,
      async check(context, mode) {
        checkNoTrailing(installer);
        const preview = await opened.signing.check(context, mode);
        if (mode === 'replace' || stored === undefined) return preview;
        return { ...preview, warnings: [...preview.warnings, msiWarnings('second-signature-unread')] };
      },
    },
    layout: () => describeInstaller(installer),
    contents: {
      async *entries(neighbour) {
        yield* (await import('./contents.ts')).installerFiles(source, installer.root, neighbour);
      },
      changing: undefined,
    },
  };
}

function streamOf({ children }: CompoundStorage, name: string): CompoundStream | undefined {
  const wanted = Buffer.from(name, 'utf16le');
  const found = children.find((child) => Buffer.compare(wanted, child.name) === 0);
  return found?.kind === 'stream' ? found : undefined;
}

async function readSignature(source: ByteSource, stream: CompoundStream): Promise<StoredCms> {
  return stream.size > LONGEST_CMS ? TOO_LONG : splitCms(await readStream(source, stream));
}

/** Returns an empty value, which never matches, in place of one that is too long for a digest. */
async function readMetadata(source: ByteSource, stream: CompoundStream): Promise<Uint8Array> {
  return stream.size > LONGEST_METADATA ? new Uint8Array() : await readStream(source, stream);
}

interface MeasuredInstaller extends MeasuredContent {
  readonly metadata: Uint8Array | undefined;
}

function signatureStream(
  installer: Installer,
  source: ByteSource,
  { measure }: ContentReader,
): Container<MeasuredInstaller> {
  const { file, root, stored, metadata: present } = installer;
  const isHidden = stored !== undefined && !isPadding(stored.rest);
  const measured = async (metadata: Uint8Array | undefined, algorithms: readonly ContentDigest[]) => {
    const content = contentOf(root, metadata === undefined ? [] : [metadata]);
    const { digests } = await measure(source, content, algorithms, () => laidOut(root.children));
    return { digests, metadata };
  };
  const laidOut = (children: CompoundStorage['children']): Patch => {
    checkNoTrailing(installer);
    return [{ offset: 0, remove: source.size, insert: layOut(file, { ...root, children }) }];
  };
  return {
    source,
    warnings: isHidden ? [formatWarnings('hidden-bytes-dropped', { where: 'after the signature' })] : [],
    kind: sipKind(sipOf(true), 'an installer file'),
    hasFormWithoutMetadata: true,
    entries: stored === undefined ? [] : [{ location: 'stream DigitalSignature', cms: stored.cms }],
    compare: async ({ dataValue }) => examineMetadata(installer, dataValue),
    async measure(content, algorithms) {
      const [first] = algorithms;
      if (content === 'present') return measured(present, algorithms);
      const hasMetadata = content === 'new' && first !== undefined && first !== 'MD5';
      return measured(hasMetadata ? digestMetadata(root, first) : undefined, algorithms);
    },
    async content(_context, { metadata }) {
      checkNoTrailing(installer);
      return spcSipInfo(sipOf(metadata !== undefined));
    },
    write(cms, { metadata }) {
      const last = (name: string, bytes: Uint8Array) => ({ ...newStream(name, bytes), isLast: true });
      const extra = metadata === undefined ? [] : [last(METADATA_STREAM, metadata)];
      return laidOut([...root.children, last(SIGNATURE_STREAM, cms), ...extra]);
    },
    removeAll: async () => (stored === undefined && present === undefined ? undefined : laidOut(root.children)),
    examine: () => examineInstaller(installer, source),
  };
}

/** Signing would delete bytes after the last sector, which may be the payload of an installer. */
function checkNoTrailing({ trailing }: Installer): void {
  if (trailing === undefined) return;
  const { start, end } = trailing;
  throw formatErrors('trailing-bytes', { length: end - start, what: 'the last sector in use', end: start });
}
