import type { Journal } from '../../journal/journal.ts';
import type { SigningService } from '../../service/signing-service.ts';
import type { ClientInfo } from './client-info.ts';

export type SigningJournal = Pick<Journal, 'known' | 'claim' | 'knownFor' | 'repeatable'>;

export interface Account {
  readonly service: SigningService;
  readonly origin: string;
  readonly code: string;
  readonly journal: SigningJournal;
  readonly client: ClientInfo;
}
