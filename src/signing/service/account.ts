/** The account at the service that signs, and the journal of its calls. */

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
  /** The journal, or its replacement. */
  readonly journal: SigningJournal;
  /** Information about this client that the calls send. */
  readonly client: ClientInfo;
}
