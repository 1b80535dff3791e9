/** Whether a signature names the kind of file it stands in: the data type of SpcIndirectDataContent, and the value under it. */

import { CodesignError } from '../errors/codesign-error.ts';
import type { Finding } from '../errors/finding.ts';
import { SPC_CAB_DATA, SPC_PE_IMAGE_DATA, SPC_SIP_INFO } from './object-identifiers.ts';
import type { AuthenticodeParts } from './read-authenticode.ts';
import { pageHashesIn, readPeImageData } from './spc-values.ts';

const FILE_KINDS: ReadonlyMap<string, string> = new Map([
  [SPC_PE_IMAGE_DATA, 'a program (PE)'],
  [SPC_CAB_DATA, 'a cabinet file'],
  [SPC_SIP_INFO, 'a file that a plug-in of Windows signs (MSI, script, package)'],
]);

export interface DataTypes {
  /** The data type of the format, dotted: SPC_PE_IMAGE_DATA and its like. */
  readonly dataType: string;
  /** A wrong type that signing programs write for such files, and that their platform accepts. */
  readonly toleratedType?: string | undefined;
}

/** The data type must be the format's, and its value must be of that type. */
export function examineDataType({ dataType, dataValue }: AuthenticodeParts, file: DataTypes): readonly Finding[] {
  if (dataType !== file.dataType && dataType !== file.toleratedType) return [wrongType(dataType)];
  const tolerated: Finding[] =
    dataType === file.dataType
      ? []
      : [odd('signed-kind-other', `The signature names ${dataType} as the kind of file, not ${file.dataType}.`)];
  return [...tolerated, ...(file.dataType === SPC_PE_IMAGE_DATA ? examinePeImageData(dataValue) : [])];
}

function wrongType(dataType: string): Finding {
  const kind = FILE_KINDS.get(dataType) ?? `an unknown kind of file (${dataType})`;
  return broken('signed-kind-differs', `The signature was made for ${kind}.`);
}

function examinePeImageData(value: AuthenticodeParts['dataValue']): readonly Finding[] {
  if (value === undefined) {
    return [
      broken('signed-kind-malformed', 'The signature has no SpcPeImageData, which says that it is for a program.'),
    ];
  }
  try {
    readPeImageData(value);
    const pageHashes = pageHashesIn(value);
    if (pageHashes.length === 0) return [];
    return [odd('page-hashes-not-checked', `Page hashes present, not checked (${pageHashes.join(', ')}).`)];
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return [broken('signed-kind-malformed', `The SpcPeImageData of the signature cannot be read: ${thrown.message}.`)];
  }
}

const broken = (code: string, message: string): Finding => ({ code, message, against: 'integrity' });
const odd = (code: string, message: string): Finding => ({ code, message, against: 'nothing' });
