/** The kinds of file that a signature in a program may name. */

import type { DataTypes } from '../../authenticode/examine-data-type.ts';
import { SPC_INDIVIDUAL_PURPOSE, SPC_PE_IMAGE_DATA } from '../../authenticode/object-identifiers.ts';
import type { ProgramKind } from './layout.ts';

/** IMAGE_SUBSYSTEM_EFI_APPLICATION to IMAGE_SUBSYSTEM_EFI_ROM. */
const EFI_SUBSYSTEMS: readonly number[] = [10, 11, 12, 13];

/** Debian signed EFI programs with SPC_INDIVIDUAL_PURPOSE as their data type, which firmware does not read. */
export function dataTypesOf({ subsystem }: ProgramKind): DataTypes {
  const toleratedType = EFI_SUBSYSTEMS.includes(subsystem) ? SPC_INDIVIDUAL_PURPOSE : undefined;
  return { dataType: SPC_PE_IMAGE_DATA, toleratedType };
}
