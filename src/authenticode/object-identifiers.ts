/** Object identifiers of Microsoft's "Windows Authenticode Portable Executable Signature Format", dotted. */

import { COUNTER_SIGNATURE, TIMESTAMP_TOKEN } from '../cms/object-identifiers.ts';

export const SPC_INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
export const SPC_STATEMENT_TYPE = '1.3.6.1.4.1.311.2.1.11';
export const SPC_SP_OPUS_INFO = '1.3.6.1.4.1.311.2.1.12';
export const SPC_PE_IMAGE_DATA = '1.3.6.1.4.1.311.2.1.15';
export const SPC_INDIVIDUAL_PURPOSE = '1.3.6.1.4.1.311.2.1.21';
export const SPC_CAB_DATA = '1.3.6.1.4.1.311.2.1.25';
export const SPC_SIP_INFO = '1.3.6.1.4.1.311.2.1.30';
export const SPC_COMMERCIAL_PURPOSE = '1.3.6.1.4.1.311.2.1.22';
export const SPC_PAGE_HASHES_V1 = '1.3.6.1.4.1.311.2.3.1';
export const SPC_PAGE_HASHES_V2 = '1.3.6.1.4.1.311.2.3.2';
export const SPC_NESTED_SIGNATURE = '1.3.6.1.4.1.311.2.4.1';
export const SPC_RFC3161_TIMESTAMP = '1.3.6.1.4.1.311.3.3.1';
/** Unsigned attributes whose timestamps Windows reads. */
export const TIMESTAMP_TYPES: readonly string[] = [SPC_RFC3161_TIMESTAMP, COUNTER_SIGNATURE];
/** Unsigned attributes for timestamps that Windows does not read. */
export const UNREAD_TIMESTAMP_TYPES: readonly string[] = [TIMESTAMP_TOKEN];
