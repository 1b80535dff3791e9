// What the server's part takes from the sources, bundled by running.mjs: Node 20 does not read TypeScript.
export { findSoftHsm } from '../../../server/src/keys/softhsm.ts';
export { TOKEN_LABEL } from '../../../server/src/setup/open-data.ts';
export { startPostgres } from '../../../server/test/support/postgres.ts';
export { SIGN_PATH } from '../../../src/service/messages.ts';
