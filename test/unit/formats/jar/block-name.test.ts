import { describe, expect, it } from 'vitest';
import { blockName, chooseBlockName } from '../../../../src/formats/jar/signature/new-signature.ts';

it.each([
  ['Ünïcode & Co', '_N_CODE_'],
  ['', 'SIGNER'],
  ['a-b_c.1', 'A-B_C_1'],
  ['../../evil', '______EV'],
  // One character of two UTF-16 units is one `_`.
  ['😀x', '_X'],
  // In upper case it is two letters.
  ['Straße', 'STRASSE'],
  ['a\r\nb\0', 'A__B_'],
])('the name %j becomes %s', (wanted, name) => {
  expect(blockName(wanted)).toBe(name);
});

const chosen = (wanted: string | undefined, ...others: readonly (readonly [base: string, certificate?: string])[]) =>
  chooseBlockName(
    wanted,
    { der: Buffer.from('mine'), name: 'Test Publisher' },
    others.map(([base, certificate]) => ({
      base,
      signer: { name: 'Somebody Else', certificate: certificate === undefined ? undefined : Buffer.from(certificate) },
    })),
  );
const numbered = (from: number, to: number, prefix: string) =>
  Array.from({ length: to - from + 1 }, (_, index) => [`${prefix}${from + index}`, `theirs ${index}`] as const);
const TAKEN = ['TEST_PUB', 'theirs'] as const;
const TO_9 = [TAKEN, ...numbered(2, 9, 'TEST_PU')];

describe('next to other signatures', () => {
  it.each<[string, string | undefined, Parameters<typeof chosen>[1][], string]>([
    ['is made distinct from 99 others', undefined, [...TO_9, ...numbered(10, 99, 'TEST_P')], 'TEST_100'],
    ['is the same again if it was made distinct', undefined, [TAKEN, ['TEST_PU2', 'mine']], 'TEST_PU2'],
    ['is not that of an unknown certificate', undefined, [['TEST_PUB']], 'TEST_PU2'],
    ['is not that of two blocks', undefined, [['TEST_PUB', 'mine'], TAKEN], 'TEST_PU2'],
  ])('the name %s', (_, wanted, others, name) => {
    expect(chosen(wanted, ...others)).toBe(name);
  });

  it('a chosen name that another certificate has is refused', () => {
    const refusal = { code: 'signer-name-taken', message: expect.stringContaining('Somebody Else') };
    expect(() => chosen('TEST_PUB', ['TEST_PUB', 'mine'], TAKEN)).toThrow(expect.objectContaining(refusal));
  });
});
