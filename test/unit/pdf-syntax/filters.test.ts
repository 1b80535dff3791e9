import { constants, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeStream } from '../../../src/pdf-syntax/filters.ts';
import { parser } from '../../../src/pdf-syntax/parse.ts';
import type { PdfDictionary } from '../../../src/pdf-syntax/values.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
/** Codes of 9 bits, with a new table before each 250 bytes, so that no code has more. */
function lzwOf(data: Buffer): Buffer {
  const codes = [...data].flatMap((byte, index) => (index % 250 === 0 ? [256, byte] : [byte]));
  const bits = [...codes, 257].map((code) => code.toString(2).padStart(9, '0')).join('');
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

function decode(dictionary: string, data: Buffer): Buffer {
  const value = parser(bytesOf(`<< ${dictionary} >>`), 0, true).value() as PdfDictionary;
  return decodeStream(data, value, (problem) => new Error(problem));
}

describe('the filters of streams', () => {
  const text = bytesOf('a stream of objects '.repeat(40));
  const row = Buffer.of(0, 1, 2, 3);

  it.each([
    ['', text, text],
    ['/Filter []', text, text],
    ['/Filter /FlateDecode', deflateSync(text), text],
    ['/Filter /FlateDecode', deflateSync(text, { finishFlush: constants.Z_SYNC_FLUSH }), text],
    ['/Filter [/FlateDecode] /DecodeParms [<< /Predictor 12 /Columns 3 >>]', deflateSync(row), row.subarray(1)],
    ['/Filter /Fl /DecodeParms << /Predictor 2 /Columns 2 >>', deflateSync(row), Buffer.of(0, 1, 2, 5)],
    ['/Filter /LZWDecode', Buffer.from('800b6050220c0c8501', 'hex'), bytesOf('-----A---B')],
    ['/Filter /LZWDecode', lzwOf(text), text],
    ['/Filter /AHx', bytesOf('61 62\n637>zz'), bytesOf('abcp')],
    ['/Filter /ASCII85Decode', bytesOf('z87cU\nRD]i,"Ebo80~>'), bytesOf('\0\0\0\0Hello World!')],
    ['/Filter /RunLengthDecode', Buffer.of(2, 97, 98, 99, 254, 100, 128, 7), bytesOf('abcddd')],
    ['/Filter [/ASCIIHexDecode /FlateDecode]', bytesOf(deflateSync(text).toString('hex')), text],
  ])('%#: %s is decoded', (dictionary, encoded, decoded) => {
    expect(decode(dictionary, encoded).toString('latin1')).toBe(decoded.toString('latin1'));
  });

  it.each([
    ['/Filter /DCTDecode', text],
    ['/Filter /FlateDecode', bytesOf('no such data')],
    ['/Filter /FlateDecode', deflateSync(text).subarray(0, -6)],
    ['/Filter /FlateDecode /DecodeParms << /Predictor 2 /BitsPerComponent 4 >>', deflateSync(text)],
    ['/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 0 >>', deflateSync(text)],
    ['/Filter /LZWDecode', Buffer.of(0x80, 0x7f, 0xff)],
    ['/Filter /ASCIIHexDecode', bytesOf('6x>')],
    ['/Filter /ASCII85Decode', bytesOf('uuuuu~>')],
    ['/Filter /ASCII85Decode', bytesOf('87cUz~>')],
    ['/Filter /RunLengthDecode', Buffer.of(9, 1)],
    [`/Filter [${'/FlateDecode '.repeat(9)}]`, text],
  ])('%#: %s is rejected', (dictionary, encoded) => {
    expect(() => decode(dictionary, encoded)).toThrow(/^a stream /);
  });

  it('limits what they make of little data', () => {
    const much = deflateSync(Buffer.alloc(33 * 1024 * 1024), { level: 1 });
    expect(() => decode('/Filter /FlateDecode', much)).toThrow(expect.objectContaining({ code: 'pdf-too-large' }));
    const wide = '/Filter /FlateDecode /DecodeParms << /Predictor 12 /Colors 65535 /Columns 65535 >>';
    expect(decode(wide, deflateSync(row)).length).toBe(3);
  });
});
