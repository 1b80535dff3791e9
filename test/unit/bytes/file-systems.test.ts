import { expect, it } from 'vitest';
import { isLocal } from '../../../src/bytes/file-source.ts';

/** The numbers of statfs(2) and of the Linux header `linux/magic.h`. */
it.each([
  [true, 'ext4', 0xef53],
  [true, 'tmpfs', 0x01021994],
  [false, 'NFS', 0x6969],
  [false, 'CIFS', 0xff534d42],
  [false, 'FUSE (sshfs and others)', 0x65735546],
  [false, 'OCFS2', 0x7461636f],
  [false, 'a file system without a number', 0],
])('isLocal is %s for %s', (expected, _, type) => {
  expect(isLocal({ type })).toBe(expected);
});
