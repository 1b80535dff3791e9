import type { CodesignError } from '../../errors/codesign-error.ts';
import { harmlessJson } from '../../errors/printable.ts';

/** Escapes control characters, which are not harmless on a terminal. */
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
