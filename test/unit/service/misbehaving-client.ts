/** A misbehaving service and a client of it, which end with the test that opens them. */

import { onTestFinished } from 'vitest';
import {
  type MisbehavingServiceOptions,
  type ServiceMode,
  startMisbehavingService,
} from '../../support/services/misbehaving-service.ts';
import { openServiceClient, type ServiceClientOptions } from '../../support/services/service-client.ts';

export async function openMisbehaving(
  mode: ServiceMode,
  options: MisbehavingServiceOptions = {},
  client: Partial<ServiceClientOptions> = {},
) {
  const misbehaving = await startMisbehavingService(mode, options);
  onTestFinished(() => misbehaving.stop());
  const { baseUrl, caFile } = misbehaving;
  const opened = await openServiceClient({ baseUrl, caFile, ...client });
  onTestFinished(() => opened.service.close());
  return { ...opened, misbehaving };
}
