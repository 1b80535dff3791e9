/** The part of undici that is used, in a file of its own: bundled CommonJS shows its names only through a static import (see build.mjs). */

export { Agent } from 'undici';
