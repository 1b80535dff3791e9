import { fileURLToPath } from 'node:url';

/** The pages of the installed package, next to dist/. They can be read without a network. */
export const DOCS_FOLDER = fileURLToPath(new URL('../docs', import.meta.url));
