import { cabinetErrors } from './errors.ts';

export function damaged(problem: string, cause?: unknown) {
  return cabinetErrors('cabinet-data-damaged', { problem }, { cause });
}
