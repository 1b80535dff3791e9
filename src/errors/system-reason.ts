const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EACCES: 'the current user has no permission',
  EPERM: 'the current user has no permission',
  EISDIR: 'it is a folder',
  ENXIO: 'it is a pipe, a socket or a device',
  ELOOP: 'its links form a cycle',
  FOREIGN_LINK: 'the link belongs to another user',
  FOREIGN_FOLDER: 'its folder belongs to another user',
  OPEN_FOLDER: 'every user may write to its folder',
  NO_TEXT_FILE: 'it is not a text file',
  EFBIG: 'it is too large',
  ENOSPC: 'no space is left on the disk',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open',
};

export function systemReason(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown reason';
  return REASONS[code] ?? code;
}

export function hasCode(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof Error && 'code' in thrown && codes.includes(String(thrown.code));
}
