/** What the manifest and the signature file say they were made by: no version, so that an upgrade signs the same bytes. */

export const CREATED_BY = 'codesign-remote';
