-- What is kept, per queue: requests, domains with their turns, holders, processes that have it open with their share of
-- the counters, answers to the last calls, notes. Beside it datasets, records and what is known of hosts.
-- states of a request: 0 queued, 1 leased, 2 retrying, 3 done, 4 failed, 5 skipped.

CREATE TABLE IF NOT EXISTS about ("row" boolean PRIMARY KEY DEFAULT true CHECK ("row"), version integer NOT NULL,
  store text NOT NULL DEFAULT gen_random_uuid()::text);

-- Orders calls: places in queues, ties of domains, and ids of leases and holders are made of it.
CREATE SEQUENCE IF NOT EXISTS steps;

CREATE TABLE IF NOT EXISTS queues (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  rules text NOT NULL,
  behind_ms bigint NOT NULL DEFAULT 0,
  last_ms bigint NOT NULL DEFAULT 0,
  judge bigint NOT NULL DEFAULT 0
);

CREATE TABLE IF NOT EXISTS openers (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue integer NOT NULL,
  identity text,
  seen_ms bigint NOT NULL,
  accepted bigint NOT NULL DEFAULT 0,
  queued bigint NOT NULL DEFAULT 0,
  retrying bigint NOT NULL DEFAULT 0,
  leased bigint NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  skipped bigint NOT NULL DEFAULT 0,
  suspects bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 30);
CREATE INDEX IF NOT EXISTS openers_of_queue ON openers (queue);

CREATE TABLE IF NOT EXISTS domains (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue integer NOT NULL,
  queued integer NOT NULL DEFAULT 0,
  turns_out integer NOT NULL DEFAULT 0,
  turns integer NOT NULL,
  suspects integer NOT NULL DEFAULT 0,
  delay_ms bigint,
  allowed_ms bigint NOT NULL DEFAULT 0,
  ready_ms bigint NOT NULL DEFAULT 0,
  tie bigint NOT NULL DEFAULT 0,
  due_ms bigint GENERATED ALWAYS AS
    (CASE WHEN queued > 0 AND turns_out < turns THEN greatest(allowed_ms, ready_ms) END) STORED,
  name text NOT NULL,
  UNIQUE (queue, name)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX IF NOT EXISTS domains_due ON domains (queue, due_ms, tie) WHERE due_ms IS NOT NULL AND suspects = 0;
CREATE INDEX IF NOT EXISTS domains_accused ON domains (queue, due_ms, tie) WHERE due_ms IS NOT NULL AND suspects > 0;

CREATE TABLE IF NOT EXISTS requests (
  fp bigint NOT NULL,
  domain bigint NOT NULL,
  place bigint NOT NULL,
  holder bigint,
  lease bigint,
  retry_ms bigint,
  queue integer NOT NULL,
  state smallint NOT NULL DEFAULT 0,
  rank smallint NOT NULL,
  priority smallint NOT NULL,
  lost smallint NOT NULL DEFAULT 0,
  trial smallint NOT NULL DEFAULT 0,
  landed boolean NOT NULL DEFAULT false,
  bulk boolean NOT NULL DEFAULT false,
  to_end boolean NOT NULL DEFAULT false,
  reason text,
  record text NOT NULL,
  PRIMARY KEY (queue, fp)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX IF NOT EXISTS requests_line ON requests (domain, rank, place) WHERE state = 0;
CREATE INDEX IF NOT EXISTS requests_held ON requests (holder, lease) WHERE state = 1;
CREATE INDEX IF NOT EXISTS requests_waiting ON requests (queue, retry_ms) WHERE state = 2;

CREATE TABLE IF NOT EXISTS holders (
  id bigint PRIMARY KEY,
  queue integer NOT NULL,
  opener integer NOT NULL,
  seen_ms bigint NOT NULL,
  name text NOT NULL,
  UNIQUE (queue, name)
) WITH (fillfactor = 30);

CREATE TABLE IF NOT EXISTS lost (queue integer, holder text, at_ms bigint NOT NULL, PRIMARY KEY (queue, holder));

CREATE TABLE IF NOT EXISTS calls (
  queue integer,
  holder text,
  slot smallint,
  call bigint NOT NULL,
  at_ms bigint NOT NULL DEFAULT 0,
  answer text,
  PRIMARY KEY (queue, holder, slot)
) WITH (fillfactor = 30);

CREATE TABLE IF NOT EXISTS notes (queue integer, name text, text text NOT NULL, PRIMARY KEY (queue, name));

CREATE TABLE IF NOT EXISTS hosts (queue text, host text, record text, claimed_until timestamptz,
  PRIMARY KEY (queue, host));

CREATE TABLE IF NOT EXISTS segments (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dataset text NOT NULL,
  name text COLLATE "C" NOT NULL,
  length bigint NOT NULL DEFAULT 0,
  writer text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  modified_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (dataset, name)
);
CREATE TABLE IF NOT EXISTS lines (segment bigint, from_byte bigint, bytes bytea NOT NULL,
  PRIMARY KEY (segment, from_byte));

CREATE TABLE IF NOT EXISTS records (store text, key text COLLATE "C", content_type text NOT NULL, body bytea NOT NULL,
  PRIMARY KEY (store, key));

-- A line of a dataset. One page must not make a query over all of them fail: U+0000 and half a surrogate pair, which no
-- text of Postgres holds, become U+FFFD; what is nested too deeply is null.
CREATE OR REPLACE FUNCTION item_of(p_line text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN p_line::jsonb;
EXCEPTION WHEN OTHERS THEN
  BEGIN
    -- Whole pairs are written as they are, so an escape of this kind is half of one.
    RETURN regexp_replace(p_line, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'g')::jsonb;
  EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
  END;
END $$;

-- The items of datasets as rows, for SQL.
CREATE OR REPLACE VIEW items AS
  SELECT s.dataset, s.name AS segment, l.from_byte, i.position, item_of(i.line) AS item
  FROM segments s JOIN lines l ON l.segment = s.id
  CROSS JOIN LATERAL regexp_split_to_table(rtrim(convert_from(l.bytes, 'UTF8'), E'\n'), E'\n')
    WITH ORDINALITY AS i (line, position);

-- What every call brings along: who calls, what it knows of the time (clock.sql), how domains are paced.
DO $do$ BEGIN
  CREATE TYPE frame AS (queue integer, opener integer, wall_ms bigint, lower_ms bigint, upper_ms bigint,
    lease_ms bigint, delay_ms bigint, turns integer);
EXCEPTION WHEN duplicate_object THEN NULL;
END $do$;
