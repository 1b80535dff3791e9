/** Entry point of the single executables: does what bin/codesign-remote.js does in the npm package. */

import { main } from './main.ts';

/** Without this, a promise that never settles would end the process with exit code 0. */
function complain(): void {
  process.exitCode = 1;
  process.stderr.write('error    the program ended without a result; this is a defect of it [internal]\n');
}

process.once('beforeExit', complain);
void main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
  process.off('beforeExit', complain);
});
