import { plural } from '../../errors/plural.ts';
import type { Detail } from '../../format/signature.ts';
import { type CertificateEntries, hex, typeName, type WinCertificate } from './certificate-table.ts';
import type { PeLayout } from './layout.ts';

const MACHINES: ReadonlyMap<number, string> = new Map([
  [0x014c, 'x86'],
  [0x8664, 'x64'],
  [0x01c0, 'ARM'],
  [0x01c4, 'ARM'],
  [0xaa64, 'ARM64'],
  [0x0200, 'Itanium'],
  [0x0ebc, 'EFI byte code'],
  [0x5032, 'RISC-V 32'],
  [0x5064, 'RISC-V 64'],
  [0x6264, 'LoongArch 64'],
]);
const SUBSYSTEMS: ReadonlyMap<number, string> = new Map([
  [1, 'native'],
  [2, 'Windows'],
  [3, 'console'],
  [9, 'Windows CE'],
  [10, 'EFI application'],
  [11, 'EFI boot service driver'],
  [12, 'EFI runtime driver'],
  [13, 'EFI ROM'],
  [16, 'boot application'],
]);

export function describeLayout(layout: PeLayout, { certificates, damage }: CertificateEntries): readonly Detail[] {
  const { program, checksum, programEnd, table, tableEntry } = layout;
  const { isPlus, machine, subsystem } = program;
  const isStale = tableEntry.offset !== 0 || tableEntry.size !== 0;
  const claimed = isStale
    ? `, although the header says at byte ${tableEntry.offset}, ${plural(tableEntry.size, 'byte')}`
    : '';
  const location = table === undefined ? `none${claimed}` : `at byte ${table.offset}, ${table.size} bytes`;
  const machineName = MACHINES.get(machine) ?? `machine ${hex(machine, 4)}`;
  const subsystemName = SUBSYSTEMS.get(subsystem) ?? `subsystem ${subsystem}`;
  return [
    { name: 'program', value: [isPlus ? 'PE32+' : 'PE32', machineName, subsystemName].join(', ') },
    { name: 'program end', value: `byte ${programEnd}` },
    { name: 'checksum', value: checksum === 0 ? 'none' : hex(checksum, 8) },
    { name: 'certificate table', value: location },
    ...certificates.map((certificate, index) => ({ name: `entry ${index + 1}`, value: describeEntry(certificate) })),
    ...(damage === undefined ? [] : [{ name: 'damage', value: damage }]),
  ];
}

function describeEntry({ offset, length, revision, type }: WinCertificate): string {
  const version = `${revision >>> 8}.${revision & 0xff}`;
  return `${typeName(type)}, revision ${version}, at byte ${offset}, ${length} bytes`;
}
