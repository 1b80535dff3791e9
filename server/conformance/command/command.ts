/** Entry point of `npm run conformance`. */

import { main } from './main.ts';

process.exitCode = await main(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
