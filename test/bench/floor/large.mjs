// `large.mjs INPUT OUTPUT`: the least that signing one large program can be: one pass that reads, digests and copies, and a
// second reading of the copy.
import { createHash } from 'node:crypto';
import { fstatSync, fsyncSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { agent, report, sign } from './service.mjs';

const [input, output] = process.argv.slice(2);
const buffer = Buffer.allocUnsafe(1024 * 1024);

function digestOf(file, use = () => undefined) {
  const hash = createHash('sha256');
  for (let at = 0; ; ) {
    const length = readSync(file, buffer, 0, buffer.length, at);
    if (length === 0) return hash.digest();
    const chunk = buffer.subarray(0, length);
    hash.update(chunk);
    use(chunk, at);
    at += length;
  }
}

const original = openSync(input);
const copy = openSync(`${output}.tmp`, 'wx+');
const attributes = digestOf(original, (chunk, at) => writeSync(copy, chunk, 0, chunk.length, at));
const { signature, id } = await sign(attributes, createHash('sha256').update(attributes).digest());
writeSync(copy, signature, 0, signature.length, fstatSync(original).size);
digestOf(copy);
fsyncSync(copy);
renameSync(`${output}.tmp`, output);
await report(id);
agent.destroy();
