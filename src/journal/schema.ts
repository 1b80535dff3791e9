/** The values are text, because the two drivers return blobs differently. Times are in milliseconds. */

/** Value of `user_version`, which must grow whenever a table changes. */
export const VERSION = 1;

/** A work can have at most one call that is in one of these states. */
export const OPEN_STATES = "('claimed', 'requested', 'signed')";
/** Queries must contain exactly this text, because SQLite then uses the index. */
export const UNFINISHED =
  "(state in ('claimed', 'requested', 'signed', 'unusable', 'unknown', 'surplus') or due is not null)";

/**
 * Each commit writes whole pages. Therefore one page contains the rows of several files, and the index of all works, in
 * which rows of one commit are on different pages, does not depend on the state of a call.
 */
export const PAGE_SIZE = 8192;

export const SCHEMA = `
create table counter (value integer not null) strict;
insert into counter values (0);

create table runs (
  id integer primary key autoincrement, holder text not null,
  began integer not null, began_at integer not null, active_at integer not null,
  ended integer, well integer not null default 0
) strict;

create table calls (
  id integer primary key, name text not null,
  work text not null, origin text not null, code text not null, algorithm text not null, digest text not null,
  run integer not null, state text not null, settled integer, at integer not null, ended_at integer,
  file text not null, bytes integer not null, certificate text not null, leaf text not null, client text not null,
  repeated integer not null default 0,
  reason text, record text, signature text, token text,
  due integer, reporter integer, reported integer
) strict;
create index calls_of_works on calls (work);
create unique index unfinished_calls on calls (work, case when state in ${OPEN_STATES} then 0 else id end)
  where ${UNFINISHED};

-- sha256 is empty if a file was written by a run that computed no file digests, and null if it was never written.
create table files (
  call integer not null references calls on delete cascade, place text not null,
  run integer not null, file text not null, output text, options text, wants_report integer not null,
  written integer not null default 0, given_up integer not null default 0, reason text, sha256 text,
  primary key (call, place)
) strict, without rowid;

create table proven (
  origin text not null, code text not null, leaf text not null, matches integer not null, call text not null,
  primary key (origin, code, leaf)
) strict, without rowid;

pragma user_version = ${VERSION};
`;
