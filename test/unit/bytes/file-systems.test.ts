import { describe, expect, it } from 'vitest';
import { isLocal } from '../../../src/bytes/file-source.ts';

/** The numbers of statfs(2) and of the Linux header `linux/magic.h`. */
describe('isLocal', () => {
  it.each([
    ['ext4', 0xef53],
    ['XFS', 0x58465342],
    ['Btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlayfs', 0x794c7630],
    ['ZFS', 0x2fc12fc1],
    ['F2FS', 0xf2f52010],
    ['FAT', 0x4d44],
    ['exFAT', 0x2011bab0],
  ])('is true for %s', (_, type) => {
    expect(isLocal({ type })).toBe(true);
  });

  it.each([
    ['NFS', 0x6969],
    ['CIFS', 0xff534d42],
    ['SMB 2 and 3', 0xfe534d42],
    ['the old SMB', 0x517b],
    ['FUSE (sshfs and others)', 0x65735546],
    ['Ceph', 0x00c36400],
    ['AFS', 0x5346414f],
    ['9P (WSL)', 0x01021997],
    ['GFS2', 0x01161970],
    ['OCFS2', 0x7461636f],
    ['shared folders of VirtualBox', 0x786f4256],
    ['a file system without a number', 0],
  ])('is false for %s, which several machines may use', (_, type) => {
    expect(isLocal({ type })).toBe(false);
  });
});
