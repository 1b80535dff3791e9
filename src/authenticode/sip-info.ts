import { SPC_SIP_INFO } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf } from '../asn1/read.ts';
import { encode, encodeAll, octetString, smallInteger } from '../asn1/write.ts';
import { guidBytes, guidText } from '../bytes/guid.ts';
import { attempt, CodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import type { SignedKind } from './container.ts';
import type { SpcData } from './spc-structures.ts';

/** Identifies the Windows plug-in (Subject Interface Package) that reads and signs a type of file. */
export interface Sip {
  /** The bytes of an INTEGER, such as `01` or `01 00 00`. */
  readonly version: readonly number[];
  readonly guid: string;
}

export function spcSipInfo({ version, guid }: Sip): SpcData {
  const reserved = Array.from({ length: 5 }, () => smallInteger(0));
  const fields = [encode(0x02, Uint8Array.from(version)), octetString(guidBytes(guid)), ...reserved];
  return { type: SPC_SIP_INFO, value: encodeAll(0x30, fields) };
}

/** Accepts any version, as Windows does, and any plug-in if `sip` is undefined. */
export function sipKind(sip: Sip | undefined, name: string): SignedKind {
  return {
    dataType: SPC_SIP_INFO,
    value: {
      name: 'SIP',
      examine: (value) => examine(value, sip?.guid, name),
      describe: (value) => [{ name: 'SIP', value: readGuid(value) }],
    },
  };
}

function examine(value: Element | undefined, expected: string | undefined, name: string): readonly Finding[] {
  if (value === undefined) {
    return [broken('signed-kind-malformed', 'The signature has no SpcSipInfo, which names the type of the file.')];
  }
  const guid = attempt(() => readGuid(value));
  if (guid instanceof CodesignError)
    return [broken('signed-kind-malformed', `The SpcSipInfo of the signature cannot be read: ${guid.message}.`)];
  if (expected === undefined || guid === expected) return [];
  const message = `The signature was made for another type of file ({${guid}}), not for ${name}.`;
  return [broken('signed-kind-differs', message)];
}

export function sipVersionOf(value: Element): number {
  const { contents } = fieldsOf(value, 0x30, 'SpcSipInfo').next(0x02, 'version');
  return Number(`0x${Buffer.from(contents).toString('hex')}`);
}

function readGuid(value: Element): string {
  const fields = fieldsOf(value, 0x30, 'SpcSipInfo');
  fields.next(0x02, 'version');
  return guidText(fields.next(0x04, 'GUID').contents);
}
