import * as v from 'valibot';
import { DIGEST_ALGORITHMS } from '../../crypto/algorithms.ts';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import type { Work } from '../journal.ts';
import { decodeLine } from '../lines.ts';
import { holderSchema } from '../processes.ts';

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const workSchema = v.object({ origin: text, code: text, algorithm: v.picklist(DIGEST_ALGORITHMS), digest: text });

const signingOptionsSchema = v.object({
  path: text,
  output: text,
  existing: v.optional(v.picklist(['replace', 'append', 'skip'])),
  formatOptions: v.record(text, v.union([text, v.literal(true)])),
  inner: v.optional(text),
  time: v.optional(text),
  report: v.optional(v.boolean()),
});

const metadataSchema = v.object({
  file: text,
  bytes: v.number(),
  certificate: v.object({ name: text, sha256: text }),
  client: text,
  signingOptions: v.optional(signingOptionsSchema),
});

/** A time on two clocks: `up` never goes back, but means something only within the same `boot`. */
const momentSchema = v.object({ at: text, up: v.number(), boot: v.optional(text) });

/** `call`: the id of the call; what belongs to another call does not count. `at`: when, as ISO 8601. */
const common = { call: text, at: text };
/** Who asks, and for what. Twice in the file of a call, so that one damaged line costs neither. */
const asking = { holder: holderSchema, work: workSchema, facts: metadataSchema };

const stepSchema = v.variant('step', [
  v.object({ step: v.literal('claimed'), ...common, ...asking }),
  v.object({ step: v.literal('requested'), ...common, ...asking }),
  v.object({
    step: v.literal('signed'),
    ...common,
    record: v.optional(text),
    /** In Base64. */
    signature: text,
    /** Taken over from a call that is finished: this one requested nothing, and has nothing to report. */
    copy: v.boolean(),
    /** For a copy: what had been reported to the service by then. */
    reported: v.optional(v.union([v.literal(1), v.literal(2)])),
  }),
  v.object({ step: v.literal('refused'), ...common, reason: text }),
  v.object({ step: v.literal('unanswered'), ...common, reason: text }),
  /** The request that was sent made no signature for certain, and is to be repeated. */
  v.object({ step: v.literal('deferred'), ...common }),
  v.object({ step: v.literal('released'), ...common }),
  /** Another file takes part, `instead` of one that failed or whose process is gone. */
  v.object({ step: v.literal('shared'), ...common, share: text, ...asking, instead: v.optional(text) }),
  /** `token`: in Base64. */
  v.object({ step: v.literal('stamped'), ...common, share: text, token: text }),
  /** `sha256`: of the written file, in hex. */
  v.object({
    step: v.literal('written'),
    ...common,
    share: text,
    target: text,
    sha256: v.optional(text),
    moment: momentSchema,
  }),
  /** `changed`: the file was another one by then. */
  v.object({
    step: v.literal('not-written'),
    ...common,
    share: text,
    reason: text,
    changed: v.optional(v.boolean()),
  }),
  v.object({ step: v.literal('unusable'), ...common, share: text, reason: text }),
  v.object({ step: v.literal('withdrawn'), ...common, share: text }),
  v.object({
    step: v.literal('reported'),
    ...common,
    status: v.union([v.literal(1), v.literal(2), v.literal('not-wanted')]),
  }),
  /**
   * From here on the call is closed by this holder alone. It holds only if the file had exactly `lines` lines before
   * it: who closes has seen them all.
   */
  v.object({
    step: v.literal('closing'),
    ...common,
    by: text,
    holder: holderSchema,
    lines: count,
    aim: v.picklist(['end', 'aside']),
    givenUp: v.boolean(),
    /** Where the history's entry goes, and how long that file was before. */
    history: v.optional(v.object({ month: text, size: count })),
  }),
]);

export type Step = v.InferOutput<typeof stepSchema>;
export type Moment = v.InferOutput<typeof momentSchema>;
export type ClosingStep = Extract<Step, { readonly step: 'closing' }>;

/** Undefined for a line that is torn, damaged or unknown. */
export function readStep(line: string): Step | undefined {
  const parsed = v.safeParse(stepSchema, decodeLine(line));
  return parsed.success ? parsed.output : undefined;
}

/** 64 hexadecimal digits. JSON keeps the parts apart, whatever characters they hold. */
export function workId({ origin, code, algorithm, digest }: Work): string {
  return fingerprintOf(JSON.stringify([origin, code, algorithm, digest]));
}
