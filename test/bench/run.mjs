// `npm run bench [-- part …] [--rounds N] [--only TEXT] [--write]`: runs parts; --write keeps their numbers in README.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CLI } from './floor/programs.mjs';
import * as floor from './parts/floor.mjs';
import * as server from './parts/server.mjs';

const PARTS = { floor, server };
const README = fileURLToPath(new URL('README.md', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(PARTS);
const unknown = names.find((name) => !(name in PARTS));
if (unknown !== undefined) {
  console.error(`no such part: ${unknown}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
if (!existsSync(fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url)))) {
  console.error(`${CLI} is not built yet: npm run build`);
  process.exit(2);
}

for (const name of names) {
  const text = await PARTS[name].bench(Number(values.rounds), values.only);
  console.log(`\n### ${PARTS[name].title}\n\n${text}`);
  if (values.write) keep(name, text);
}

/** Each part has marks of its own, so that measuring one leaves the others' numbers as they are. */
function keep(name, text) {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`;
  const command = `npm run bench -- ${name} --rounds ${values.rounds}`;
  const head = `${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.version}: \`${command}\``;
  putBetweenMarks(name, `### ${PARTS[name].title}\n\n${head}\n\n${text}`);
}

function putBetweenMarks(name, text) {
  const readme = readFileSync(README, 'utf8');
  const [start, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`].map((mark) => readme.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`README.md has no place for ${name}`);
  writeFileSync(README, `${readme.slice(0, start)}<!-- ${name} -->\n${text}\n${readme.slice(end)}`);
}
