import { type StatsFs, statfsSync } from 'node:fs';

/** Of Linux, from statfs(2): ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS, F2FS, FAT and exFAT. Other systems have others. */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  ...[0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0x4d44, 0x2011bab0],
]);

/** Whether the path is known to be on a file system of this machine alone. */
export function isKnownLocal(path: string): boolean {
  return isLocal(statfsSync(path));
}

export function isLocal({ type }: Pick<StatsFs, 'type'>): boolean {
  return LOCAL_FILE_SYSTEMS.has(type);
}
