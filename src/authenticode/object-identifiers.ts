/** Object identifiers of Microsoft's "Windows Authenticode Portable Executable Signature Format", dotted. */

export const SPC_INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
export const SPC_STATEMENT_TYPE = '1.3.6.1.4.1.311.2.1.11';
export const SPC_SP_OPUS_INFO = '1.3.6.1.4.1.311.2.1.12';
export const SPC_PE_IMAGE_DATA = '1.3.6.1.4.1.311.2.1.15';
export const SPC_INDIVIDUAL_PURPOSE = '1.3.6.1.4.1.311.2.1.21';
export const SPC_NESTED_SIGNATURE = '1.3.6.1.4.1.311.2.4.1';
export const SPC_RFC3161_TIMESTAMP = '1.3.6.1.4.1.311.3.3.1';
