/** The JSON document of `resume --json`: its shape is fixed, scripts read it. */

import type { ResumedCall } from '../../../signing/resume/resume.ts';
import { errorJson, warningsJson } from '../json.ts';

export type ResumeSummary = Readonly<Record<ResumedCall['status'], number>>;

export function summarise(calls: readonly ResumedCall[]): ResumeSummary {
  const summary = { finished: 0, forgotten: 0, left: 0, failed: 0 };
  for (const { status } of calls) summary[status] += 1;
  return summary;
}

export function resumedJson(calls: readonly ResumedCall[], warnings: readonly string[]) {
  return { calls: calls.map(callJson), summary: summarise(calls), ...warningsJson(warnings) };
}

function callJson({ call, status, error }: ResumedCall) {
  const { id, kind, at, work, metadata, record, reason } = call;
  return {
    id,
    kind,
    status,
    at,
    origin: work.origin,
    code: work.code,
    algorithm: work.algorithm,
    certificate: metadata.certificate,
    record: record ?? null,
    files: call.files.map(({ file, written, signingOptions, reason: why }) => ({
      path: file,
      output: signingOptions?.output ?? null,
      written,
      reason: why ?? null,
    })),
    reason: reason ?? null,
    ...(error === undefined ? {} : { error: errorJson(error) }),
  };
}
