/** The JSON document of `sign --json`: its shape is fixed, scripts read it. */

import type { CodesignError } from '../../errors/codesign-error.ts';
import { harmlessJson } from '../../errors/harmless-json.ts';
import type { FileOutcome, SignFilesResult } from '../../signing/outcome.ts';

/** The document as text. Text from outside stays whole for programs, and harmless on a terminal. */
export function jsonText(document: object): string {
  return `${harmlessJson(document, 2)}\n`;
}

export function errorJson(error: CodesignError) {
  return {
    category: error.category,
    code: error.code,
    message: error.message,
    hint: error.hint ?? null,
    httpStatus: error.httpStatus ?? null,
    serviceCode: error.serviceCode ?? null,
  };
}

/** `warnings`: those of the run; a file has its own. Absent where there are none. */
export function resultJson({ files, summary, warnings }: SignFilesResult) {
  const { signed, skipped, failed, planned } = summary;
  return {
    files: files.map(fileJson),
    summary: { signed, skipped, failed, ...(planned > 0 ? { planned } : {}) },
    ...warningsJson(warnings),
  };
}

function fileJson(outcome: FileOutcome) {
  const told = warningsJson(outcome.warnings);
  switch (outcome.status) {
    case 'signed': {
      const { path, output, format, status, algorithm, record, reported, reused, timestamp, bytes, milliseconds } =
        outcome;
      const { timestampAuthority } = outcome;
      const replaced = replacedJson(outcome.replaced);
      const signed = {
        path,
        output,
        format,
        status,
        algorithm,
        record,
        reported,
        reused,
        timestamp,
        bytes,
        milliseconds,
      };
      const authority = timestampAuthority === null ? {} : { timestampAuthority };
      return { ...signed, ...authority, ...replaced, ...told };
    }
    case 'planned': {
      const { path, output, format, status, algorithm, digest, bytes } = outcome;
      return { path, output, format, status, algorithm, digest, bytes, ...replacedJson(outcome.replaced), ...told };
    }
    case 'skipped': {
      const { path, output, format, status } = outcome;
      return { path, output, format, status, ...told };
    }
    case 'failed': {
      const { path, format, status, record, error } = outcome;
      return {
        path,
        format,
        status,
        ...(record === null ? {} : { record, kept: outcome.kept }),
        error: errorJson(error),
        ...told,
      };
    }
  }
}

export function warningsJson(warnings: readonly string[]) {
  return warnings.length > 0 ? { warnings } : {};
}

function replacedJson(replaced: readonly string[]) {
  return replaced.length > 0 ? { replaced } : {};
}
