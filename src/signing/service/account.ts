/** The account that signs at the service, and the journal of its calls. */

import type { Journal } from '../../journal/journal.ts';
import type { SigningService } from '../../service/signing-service.ts';
import type { ClientInfo } from './client-info.ts';

/** The part of the journal that signing uses. */
export type SigningJournal = Pick<Journal, 'known' | 'claim' | 'knownFor' | 'repeatable'>;

export interface Account {
  readonly service: SigningService;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Number of the certificate at the service. */
  readonly code: string;
  readonly journal: SigningJournal;
  /** Information about this client that is sent with each call. */
  readonly client: ClientInfo;
}
