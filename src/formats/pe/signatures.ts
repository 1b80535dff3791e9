/** The signatures that are in a PE file, and what there is to say of each. */

import { describeAuthenticode } from '../../authenticode/describe-authenticode.ts';
import { authenticodeErrors } from '../../authenticode/errors.ts';
import { examineAuthenticode, type SignedFile } from '../../authenticode/examine-authenticode.ts';
import {
  type FoundSignature,
  findAuthenticode,
  roomForSignatures,
  unreadableSignature,
} from '../../authenticode/read-authenticode.ts';
import { timestampsOf } from '../../authenticode/timestamps.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { signerNameOf } from '../../cms/parse-signed-data.ts';
import type { WorkBudget } from '../../crypto/work-budget.ts';
import { CodesignError } from '../../errors/codesign-error.ts';
import type { Finding } from '../../errors/finding.ts';
import { type ReadTimestamps, timestampReader } from '../../timestamp/read-timestamps.ts';
import type { Timestamp } from '../../timestamp/timestamp.ts';
import { cmsEnvelope, type EmbeddedSignature } from '../format.ts';
import type { WinCertificate } from './certificate-table.ts';
import { dataTypesOf } from './data-types.ts';
import { hiddenLength, holdsCms, readCms } from './embedded-cms.ts';
import type { ProgramKind } from './layout.ts';
import type { MeasuredContent } from './measured-content.ts';

export interface PlacedSignature {
  /** For people; no two have the same. */
  readonly place: string;
  readonly certificate: WinCertificate;
  readonly found: FoundSignature;
}

/** One for each WIN_CERTIFICATE that says it holds a CMS, in the table's order. One that cannot be read is listed as such. */
export async function findSignatures(
  source: ByteSource,
  certificates: readonly WinCertificate[],
): Promise<readonly PlacedSignature[]> {
  const placed: PlacedSignature[] = [];
  const room = roomForSignatures();
  for (const [index, certificate] of certificates.entries()) {
    if (!holdsCms(certificate)) continue;
    const cms = await readCms(source, certificate);
    const found = cms === undefined ? unreadableSignature(new Uint8Array(), tooLong()) : findAuthenticode(cms, room);
    placed.push({ place: `certificate table, entry ${index + 1}`, certificate, found });
  }
  return placed;
}

/** `content` reads the file's content, once for all of them, with a digest for each of their algorithms. */
export function embeddedSignatures(
  source: ByteSource,
  placed: readonly PlacedSignature[],
  program: ProgramKind,
  content: () => Promise<MeasuredContent>,
  budget: WorkBudget,
): readonly EmbeddedSignature[] {
  const shared: SharedReading = {
    signedFile: async () => signedPe(await content(), program),
    readTimestamps: timestampReader(budget),
    budget,
  };
  return placed.map(({ place, certificate, found }) =>
    embeddedSignature(place, found, shared, () => examineEntry(source, certificate)),
  );
}

/** What Authenticode requires of the file that a signature is for. */
export function signedPe({ digests }: MeasuredContent, program: ProgramKind): SignedFile {
  return { ...dataTypesOf(program), digests };
}

/** What all signatures of a file have in common. */
interface SharedReading {
  readonly signedFile: () => Promise<SignedFile>;
  readonly readTimestamps: ReadTimestamps;
  readonly budget: WorkBudget;
}

function embeddedSignature(
  place: string,
  found: FoundSignature,
  shared: SharedReading,
  examinePlace: () => Promise<readonly Finding[]>,
): EmbeddedSignature {
  const { cms, parts, signedData } = found;
  let timestamps: readonly Timestamp[] | undefined;
  return {
    location: place,
    envelope: cmsEnvelope(cms),
    signedData,
    signerCertificate: signedData?.signers[0].certificate,
    signerName: nameOf(found),
    algorithm: parts?.algorithm,
    nested: found.nested.map((inner, index) =>
      embeddedSignature(`nested signature ${index + 1} in ${place}`, inner, shared, async () => []),
    ),
    // Their signatures are verified, which not everybody who lists signatures wants.
    get timestamps() {
      timestamps ??= parts === undefined ? [] : timestampsOf(parts, shared.readTimestamps);
      return timestamps;
    },
    details: async () => (parts === undefined ? [] : describeAuthenticode(parts, await shared.signedFile())),
    examine: async () => [
      ...examineAuthenticode(found, await shared.signedFile(), shared.budget),
      ...(await examinePlace()),
    ],
  };
}

function nameOf({ parts, signedData }: FoundSignature): string {
  if (parts !== undefined) return parts.signerName;
  try {
    return signedData === undefined ? UNREADABLE : signerNameOf(signedData.signers[0]);
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return UNREADABLE;
  }
}

const UNREADABLE = '(unreadable signature)';

/** What stands behind the CMS in its entry is covered by nothing, and Windows lets it pass unless told otherwise. */
async function examineEntry(source: ByteSource, certificate: WinCertificate): Promise<readonly Finding[]> {
  const length = await hiddenLength(source, certificate);
  if (length === 0) return [];
  const message = `${length} bytes that no signature covers are hidden behind the signature (CVE-2013-3900).`;
  return [{ code: 'hidden-bytes', message, against: 'integrity' }];
}

function tooLong(): CodesignError {
  return authenticodeErrors('authenticode-malformed', { problem: 'it is too long to be one' });
}
