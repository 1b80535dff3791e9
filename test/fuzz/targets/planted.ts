/** Targets with a fault in them, one of each kind: what shows that faults are found. */

import { memorySource } from '../../../src/bytes/byte-source.ts';
import { CodesignError } from '../../../src/errors/codesign-error.ts';
import { answering } from '../check-case.ts';
import { randomBytes } from '../mutations/bytes.ts';
import type { TargetDefinition } from '../target.ts';

/** Faulty for one case in four. */
function planted(fault: (input: Uint8Array) => unknown): TargetDefinition {
  return {
    share: 0,
    open: async () => ({
      make: (random) => Buffer.concat([Buffer.from([random(4)]), randomBytes(random, 60)]),
      async run(input) {
        if (input[0] === 0) await answering(() => fault(input));
        return 'good';
      },
    }),
  };
}

const kept: Uint8Array[] = [];

export const FAULTY_TARGETS: Readonly<Record<string, TargetDefinition>> = {
  'planted-throw': planted(() => {
    throw new TypeError('planted');
  }),
  'planted-internal': planted(() => {
    throw new CodesignError({ code: 'internal', category: 'internal', message: 'planted' });
  }),
  'planted-code': planted(() => {
    throw new CodesignError({ code: 'planted', category: 'local', message: 'planted' });
  }),
  'planted-change': planted(async (input) => {
    const bytes = await memorySource(input).read(1, 1);
    bytes[0] = (bytes[0] ?? 0) ^ 1;
  }),
  'planted-slow': planted(() => {
    const started = process.cpuUsage();
    for (let used = process.cpuUsage(started); used.user + used.system < 2.1e6; ) used = process.cpuUsage(started);
  }),
  'planted-memory': planted(() => {
    kept.push(new Uint8Array(320 * 1024 * 1024).fill(1));
  }),
  'planted-hang': planted(() => {
    for (;;);
  }),
};
