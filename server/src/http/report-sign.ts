import type { FastifyReply, FastifyRequest } from 'fastify';
import * as v from 'valibot';
import { reportRequestSchema } from '../../../src/service/messages.ts';
import { isRecordId } from '../records/records.ts';
import type { Client } from '../records/rows.ts';
import type { Store } from '../records/store.ts';
import { refuse, success } from './answers.ts';

/** POST /v1/codesign/report-sign (API 4.2) stores the client's report on a signature. */
export async function handleReport(
  { store, now }: { readonly store: Pick<Store, 'records'>; readonly now: () => Date },
  client: Client,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const about = { operation: 'report-sign' };
  const refuseFor = (reason: 'body' | 'id' | 'status', message: string) => {
    request.log.info({ ...about, outcome: 'refused', reason });
    return refuse(reply, 400, `invalid request: ${message}`);
  };
  const { body } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return refuseFor('body', 'the body is not a JSON object');
  }
  const fields: Readonly<Record<string, unknown>> = { ...body };
  const id = v.safeParse(reportRequestSchema.entries.id, fields.id);
  if (!id.success) return refuseFor('id', 'the field "id" is not a string');
  if (isRecordId(id.output)) request.describe({ record: id.output });
  const { status } = fields;
  if (status !== 1 && status !== 2) return refuseFor('status', 'the field "status" is neither 1 nor 2');

  const record = await store.records.report(id.output, client.id, status, now());
  if (record === undefined) return refuseFor('id', 'the field "id" does not identify a record of this client');
  request.log.info({ ...about, outcome: 'reported', certificate: record.certificate, status });
  return reply.send(success(null));
}
