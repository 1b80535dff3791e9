/** Unsigned attributes of a block that hold timestamps. */

import { SPC_RFC3161_TIMESTAMP } from '../../authenticode/object-identifiers.ts';
import { COUNTER_SIGNATURE, TIMESTAMP_TOKEN } from '../../cms/object-identifiers.ts';

/** Those that Java does not read: places of Authenticode. */
export const UNREAD_TIMESTAMP_ATTRIBUTES: readonly string[] = [SPC_RFC3161_TIMESTAMP, COUNTER_SIGNATURE];
/** A new timestamp replaces all of these. */
export const TIMESTAMP_ATTRIBUTES: readonly string[] = [TIMESTAMP_TOKEN, ...UNREAD_TIMESTAMP_ATTRIBUTES];
