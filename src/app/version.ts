/** build.mjs inserts the constants. */

declare const CODESIGN_REMOTE_VERSION: string | undefined;
declare const CODESIGN_REMOTE_REVISION: string | undefined;

export const VERSION = typeof CODESIGN_REMOTE_VERSION === 'string' ? CODESIGN_REMOTE_VERSION : '0.0.0-development';
export const REVISION = typeof CODESIGN_REMOTE_REVISION === 'string' ? CODESIGN_REMOTE_REVISION : 'development';
