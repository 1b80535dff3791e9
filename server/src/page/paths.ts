/** The addresses of the operator's page. */

export const PAGE_PATH = '/';
export const DOWNLOAD_PATH = '/records.csv';
export const STYLE_PATH = '/page.css';

/** All of them, and only these, take the credentials of viewers. */
export const PAGE_PATHS: readonly string[] = [PAGE_PATH, DOWNLOAD_PATH, STYLE_PATH];
