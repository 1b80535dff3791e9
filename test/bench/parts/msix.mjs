// Signing a package of 100 MB: ours with the service, the flush and the re-check, against a program of that size, and osslsigncode with a key on the disk.
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { compete, mebibytes, seconds, spread, table } from '../measure.mjs';
import { CLI, makeProgram } from '../setting.mjs';

const SIZE = 100_000_000;
const BLOCK = 65_536;

export const title = 'MSIX: one package of 100 MB, warm page cache';

/** @returns the table and the numbers. */
export async function bench({ folder, env, local }, rounds) {
  const [program, packed, output] = ['100.exe', '100.msix', 'signed'].map((name) => join(folder, name));
  makeProgram(program, SIZE);
  makePackage(packed, new X509Certificate(readFileSync(env.CODESIGN_CERTIFICATE)).subject);
  const ours = (file, extension) => [process.execPath, CLI, 'sign', file, '-o', `${output}${extension}`];
  const key = ['-certs', local.certificate, '-key', local.key, '-h', 'sha256'];
  const contestants = [
    { name: 'codesign-remote', command: ours(packed, '.msix'), env },
    { name: 'codesign-remote, PE', command: ours(program, '.exe'), env },
    { name: 'osslsigncode', command: ['osslsigncode', 'sign', ...key, '-in', packed, '-out', `${output}.msix`] },
  ];
  const before = () => {
    for (const extension of ['.msix', '.exe']) rmSync(`${output}${extension}`, { force: true });
    execFileSync('sync');
  };
  const result = await compete(contestants, { rounds, memory: true, before });
  const base = result['codesign-remote, PE'].median;
  const rows = contestants.map(({ name }) => {
    const of = result[name];
    return [name, seconds(of.median), spread(of), `${(of.median / base).toFixed(2)} ×`, mebibytes(of.peak)];
  });
  const results = { '100 MB': result };
  return { text: table(['program', 'median', 'least–most', 'of our PE', 'peak memory'], rows), results };
}

/** One stored file, with the parts that a package needs. @param subject as Node.js prints it: a common name alone */
function makePackage(path, subject) {
  const contents = randomBytes(SIZE);
  const blocks = [];
  for (let at = 0; at < SIZE; at += BLOCK) {
    const digest = createHash('sha256')
      .update(contents.subarray(at, at + BLOCK))
      .digest('base64');
    blocks.push(`<Block Hash="${digest}"/>`);
  }
  const file = `<File Name="data.bin" Size="${SIZE}" LfhSize="38">${blocks.join('')}</File>`;
  const method = 'HashMethod="http://www.w3.org/2001/04/xmlenc#sha256"';
  const publisher = subject.split('\n').toReversed().join(', ').replace('ST=', 'S=');
  writeFileSync(
    path,
    zip([
      ['data.bin', contents],
      ['AppxManifest.xml', `<Package><Identity Name="A" Publisher="${publisher}" Version="1.0.0.0"/></Package>`],
      ['AppxBlockMap.xml', `<BlockMap ${method}>${file}</BlockMap>`],
      ['[Content_Types].xml', '<Types></Types>'],
    ]),
  );
}

/** Stored entries. */
function zip(entries) {
  const [records, directory] = [[], []];
  let offset = 0;
  for (const [name, contents] of entries) {
    const data = Buffer.from(contents);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, place, Buffer.from(name));
    records.push(Buffer.from('PK\x03\x04'), fields, Buffer.from(name), data);
    offset += 30 + name.length + data.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...records, listed, end]);
}
