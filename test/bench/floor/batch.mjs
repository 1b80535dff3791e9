// `batch.mjs FILE…`: the least that signing small programs in place can be, 16 at once, with the program's durability: a journal
// entry flushed before the request and after the answer, the copy flushed before it replaces the original.
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { agent, report, sign } from './service.mjs';

const files = process.argv.slice(2);
const journal = mkdtempSync(join(process.env.CODESIGN_STATE_DIR ?? tmpdir(), 'floor-'));
const sha256 = (bytes) => createHash('sha256').update(bytes).digest();

async function signFile(path) {
  const original = await open(path);
  const content = await original.readFile();
  await original.close();
  const attributes = Buffer.concat([Buffer.from('attributes'), sha256(content)]);
  const digest = sha256(attributes);

  const temporary = `${path}.${process.pid}`;
  const copy = await open(temporary, 'wx+');
  await copy.write(content);
  const entry = await open(join(journal, digest.toString('hex')), 'ax');
  const note = async (step) => {
    await entry.write(JSON.stringify(step));
    await entry.datasync();
  };

  await note({ step: 'requested', path });
  const { signature, id } = await sign(attributes, digest);
  await note({ step: 'signed', signature: signature.toString('base64') });
  await copy.write(signature, 0, signature.length, content.length);
  await copy.sync();
  await copy.close();
  await rename(temporary, path);
  await report(id);
  await entry.write(JSON.stringify({ step: 'reported' }));
  await entry.close();
}

const waiting = files.values();
const work = async () => {
  for (const path of waiting) await signFile(path);
};
await Promise.all(Array.from({ length: 16 }, work));
const folder = await open(dirname(files[0]));
await folder.sync();
await folder.close();
agent.destroy();
