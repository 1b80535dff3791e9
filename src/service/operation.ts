/** The service's operations, and what is reported by the second of them: types only. */

export type Operation = 'sign' | 'report-sign';

/** API 2.5: 1 when the client's processing succeeded, 2 when it failed. */
export type ReportStatus = 1 | 2;
