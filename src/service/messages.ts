/** Messages of the Remote Code Signing API (section 2), for the client and the server. */

import * as v from 'valibot';
import { DIGEST_ALGORITHMS } from '../crypto/algorithms.ts';

export const SIGN_PATH = '/v1/codesign/sign';
export const REPORT_PATH = '/v1/codesign/report-sign';
/** The API has only this padding mode (API 9). */
export const PADDING = 'PKCS1';

/** Information about the client, for audits (API 2.3). */
export const extraSchema = v.object({
  platform: v.optional(v.string()),
  version: v.optional(v.string()),
  revision: v.optional(v.string()),
  time: v.optional(v.string()),
  hostname: v.optional(v.string()),
  signing_filename: v.optional(v.string()),
  signing_filesize: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
});
export type Extra = v.InferOutput<typeof extraSchema>;

/** API 2.2. The server checks the values later, in the order of the API document (API 7). */
export const signRequestSchema = v.object({
  code: v.string(),
  digest: v.string(),
  algorithm: v.string(),
  padding: v.string(),
  extra: v.optional(extraSchema),
});
export type SignRequestMessage = v.InferOutput<typeof signRequestSchema>;

/** API 2.5. */
export const reportRequestSchema = v.object({ id: v.string(), status: v.pipe(v.number(), v.integer()) });
export type ReportRequestMessage = v.InferOutput<typeof reportRequestSchema>;

export const algorithmSchema = v.picklist(DIGEST_ALGORITHMS);

/** The body of every response (API 2.1). */
export interface Envelope {
  readonly code: number;
  readonly message: string | undefined;
  readonly data: unknown;
}
