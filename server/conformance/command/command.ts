/** `npm run conformance -- --base-url https://… --code N`: the suite for any deployment of the API. */

import { main } from './main.ts';

process.exitCode = await main(process.argv.slice(2), process.env, {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
