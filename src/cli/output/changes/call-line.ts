import { printable } from '../../../errors/printable.ts';
import type { CallRecord } from '../../../service/call-record.ts';

export function callLine(call: CallRecord): string {
  const { operation, file, attempt, origin, code, digest, record, status, httpStatus, serviceCode, result } = call;
  const answer = [
    httpStatus === undefined ? 'no answer' : `HTTP ${httpStatus}`,
    ...(serviceCode === undefined ? [] : [`code ${serviceCode}`]),
    ...(result === 'ok' ? [] : [result]),
  ];
  const details = [
    call.time,
    origin,
    ...(code === undefined ? [] : [`certificate ${code}`]),
    ...(digest === undefined ? [] : [`${digest.algorithm} digest ${digest.masked}, ${digest.length} bytes`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(record === undefined ? [] : [`record ${record}`]),
    `attempt ${attempt}`,
    `${call.milliseconds} ms`,
  ];
  const about = file === undefined ? operation : `${operation} ${file}`;
  return `called   ${printable(about)}: ${answer.join(', ')}  (${details.map((one) => printable(one)).join(', ')})`;
}
