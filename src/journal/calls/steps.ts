/** The steps of a call as its file records them, one a line; a line that is none of these is taken for damaged. */

import * as v from 'valibot';
import { DIGEST_ALGORITHMS } from '../../crypto/algorithms.ts';
import { decodeLine } from '../lines.ts';

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const holderSchema = v.object({
  host: text,
  boot: v.optional(text),
  space: v.optional(text),
  pid: count,
  started: v.optional(text),
  /** Which opening of the journal: one process may open it several times. */
  run: text,
});

const workSchema = v.object({ origin: text, code: text, algorithm: v.picklist(DIGEST_ALGORITHMS), digest: text });

const mannerSchema = v.object({
  path: text,
  output: text,
  existing: v.picklist(['replace', 'append', 'skip']),
  description: v.optional(text),
  url: v.optional(text),
  signerName: v.optional(text),
  allowUnsignedResult: v.boolean(),
  report: v.optional(v.boolean()),
});

const factsSchema = v.object({
  file: text,
  bytes: v.number(),
  certificate: v.object({ name: text, sha256: text }),
  client: text,
  manner: v.optional(mannerSchema),
});

/** A time on two clocks: `up` never goes back, but means something only within the same `boot`. */
const momentSchema = v.object({ at: text, up: v.number(), boot: v.optional(text) });

/** `call`: the id of the call; what belongs to another call does not count. `at`: when, as ISO 8601. */
const common = { call: text, at: text };
/** Who asks, and for what. Twice in the file of a call, so that one damaged line costs neither. */
const asking = { holder: holderSchema, work: workSchema, facts: factsSchema };

const stepSchema = v.variant('step', [
  v.object({ step: v.literal('claimed'), ...common, ...asking }),
  v.object({ step: v.literal('requested'), ...common, ...asking }),
  v.object({
    step: v.literal('signed'),
    ...common,
    record: v.optional(text),
    /** In Base64. */
    signature: text,
    /** Taken over from a call that is finished: this one asked for nothing, and has nothing to report. */
    copy: v.boolean(),
    /** Of a copy: what the service had been told by then. */
    reported: v.optional(v.union([v.literal(1), v.literal(2)])),
  }),
  v.object({ step: v.literal('refused'), ...common, reason: text }),
  v.object({ step: v.literal('unanswered'), ...common, reason: text }),
  /** The request that was sent made no signature for certain, and is to be repeated. */
  v.object({ step: v.literal('deferred'), ...common }),
  v.object({ step: v.literal('released'), ...common }),
  /** Another file takes part, `instead` of one that failed or whose process is gone. */
  v.object({ step: v.literal('shared'), ...common, share: text, ...asking, instead: v.optional(text) }),
  v.object({ step: v.literal('written'), ...common, share: text, target: text, moment: momentSchema }),
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
export type HolderOnRecord = v.InferOutput<typeof holderSchema>;
export type WorkOnRecord = v.InferOutput<typeof workSchema>;
export type Moment = v.InferOutput<typeof momentSchema>;
export type ClosingStep = Extract<Step, { readonly step: 'closing' }>;

/** Undefined for a line that is torn, damaged or unknown. */
export function readStep(line: string): Step | undefined {
  const parsed = v.safeParse(stepSchema, decodeLine(line));
  return parsed.success ? parsed.output : undefined;
}
