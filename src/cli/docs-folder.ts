import { fileURLToPath } from 'node:url';

/** Documentation pages in the installed package, which can be read offline. */
export const DOCS_FOLDER = fileURLToPath(new URL('../docs', import.meta.url));
