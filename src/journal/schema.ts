/** Tables of the database. Text in place of blobs, because drivers differ there; times are milliseconds, for people and limits. */

/** Of `user_version`: a later build that changes a table counts on. */
export const VERSION = 1;

export const OPEN_STATES = "('claimed', 'requested', 'signed')";

export const SCHEMA = `
create table counter (value integer not null) strict;
insert into counter values (0);

create table runs (
  id integer primary key autoincrement,
  token text not null unique,
  host text not null, boot text, space text, pid integer not null, started text, thread integer not null,
  began integer not null, began_at integer not null,
  beat integer not null, beat_at integer not null,
  ended integer, well integer not null default 0
) strict;

create table calls (
  id integer primary key autoincrement,
  name text not null unique,
  work text not null, origin text not null, code text not null, algorithm text not null, digest text not null,
  run integer not null references runs, sender integer,
  state text not null, settled integer, at integer not null, ended_at integer,
  file text not null, bytes integer not null, certificate text not null, leaf text not null, client text not null,
  attempts integer not null default 0, repeated integer not null default 0,
  http_status integer, service_code integer, reason text,
  record text, signature text, token text
) strict;
create unique index open_calls on calls (work) where state in ${OPEN_STATES};
create index calls_of_works on calls (work);
create index calls_of_runs on calls (run);
create index unfinished_calls on calls (state)
  where state in ('claimed', 'requested', 'signed', 'unusable', 'unknown', 'surplus');

create table files (
  id integer primary key,
  call integer not null references calls on delete cascade,
  run integer not null references runs,
  place text not null, file text not null, output text, options text, wants_report integer not null,
  written integer not null default 0, given_up integer not null default 0, reason text, sha256 text,
  unique (call, place)
) strict;
create index files_of_runs on files (run);
create index waiting_files on files (call) where written = 0 and given_up = 0;

create table reports (
  call integer not null references calls on delete cascade,
  status integer not null, run integer not null, sent integer not null,
  primary key (call, status)
) strict;
create index due_reports on reports (call) where sent = 0;

create table proven (
  origin text not null, code text not null, leaf text not null, matches integer not null, call text not null,
  primary key (origin, code, leaf)
) strict;

pragma user_version = ${VERSION};
`;
