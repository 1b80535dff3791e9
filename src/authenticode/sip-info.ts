/** Identifies the Windows plug-in (Subject Interface Package) for the signed file. */

import { SPC_SIP_INFO } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf } from '../asn1/read.ts';
import { encode, encodeAll, octetString, smallInteger } from '../asn1/write.ts';
import { guidBytes, guidText } from '../bytes/guid.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { broken, type Finding } from '../errors/finding.ts';
import type { SignedKind } from './container.ts';
import type { SpcData } from './spc-structures.ts';

export interface Sip {
  /** A big-endian INTEGER: `0x01`, or `0x01 0x00 0x00`. */
  readonly version: readonly number[];
  readonly guid: string;
}

export function spcSipInfo({ version, guid }: Sip): SpcData {
  const reserved = Array.from({ length: 5 }, () => smallInteger(0));
  const fields = [encode(0x02, Uint8Array.from(version)), octetString(guidBytes(guid)), ...reserved];
  return { type: SPC_SIP_INFO, value: encodeAll(0x30, fields) };
}

/**
 * If `sip` is undefined, any plug-in is permitted. Signing programs write different versions, and Windows accepts all
 * of them.
 */
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
  try {
    const guid = readGuid(value);
    if (expected === undefined || guid === expected) return [];
    return [
      broken('signed-kind-differs', `The signature was made for another type of file ({${guid}}), not for ${name}.`),
    ];
  } catch (thrown) {
    if (!(thrown instanceof CodesignError)) throw thrown;
    return [broken('signed-kind-malformed', `The SpcSipInfo of the signature cannot be read: ${thrown.message}.`)];
  }
}

/** Returns 1 or 2 for installer files, and 0x010000 for scripts. */
export function sipVersionOf(value: Element): number {
  const { contents } = fieldsOf(value, 0x30, 'SpcSipInfo').next(0x02, 'version');
  return Number(`0x${Buffer.from(contents).toString('hex')}`);
}

function readGuid(value: Element): string {
  const fields = fieldsOf(value, 0x30, 'SpcSipInfo');
  fields.next(0x02, 'version');
  return guidText(fields.next(0x04, 'GUID').contents);
}
