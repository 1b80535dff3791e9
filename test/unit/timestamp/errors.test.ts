/** The errors of timestamps: those that no other test brings about by name. */

import { describe, expect, it } from 'vitest';
import { nullValue, sequence } from '../../../src/asn1/write.ts';
import { timestampErrors } from '../../../src/timestamp/errors.ts';
import { readTstInfo } from '../../../src/timestamp/tst-info.ts';
import { buildTstInfo } from './support/build-token.ts';

describe('timestamp-malformed', () => {
  const malformed = expect.objectContaining({ code: 'timestamp-malformed', category: 'local' });

  it('is a TSTInfo of another version, or one with bytes after it', () => {
    const info = buildTstInfo(Buffer.from('signature'), { version: 2 });
    expect(() => readTstInfo(info)).toThrowError(malformed);
    const good = buildTstInfo(Buffer.from('signature'));
    expect(() => readTstInfo(Buffer.concat([good, nullValue()]))).toThrowError(malformed);
    expect(readTstInfo(good).policy).toBe('1.2.3.4');
  });

  it('is a genTime that does not exist', () => {
    const info = buildTstInfo(Buffer.from('signature'), { genTime: '20240601126000Z' });
    expect(() => readTstInfo(info)).toThrowError(malformed);
    expect(() => readTstInfo(sequence())).toThrowError(expect.objectContaining({ code: 'asn1-malformed' }));
  });
});

it('the hint suggests a second authority where there is one', () => {
  const hintFor = (authorities: number) => timestampErrors('timestamp-failed', { reasons: '', authorities }).hint;
  expect(hintFor(1)).toContain('second authority');
  expect(hintFor(2)).not.toContain('second authority');
});
