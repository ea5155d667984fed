-- Accepts requests, each once. Links of a settled visit go the same way, in the same step.
-- Whoever waits for domains holds none yet, or waits in the order of their ids: no two calls wait for each other.

-- The domain of each entry that was never accepted, made where it is missing; null for those known already.
CREATE OR REPLACE FUNCTION sift(f frame, p_fps bigint[], p_domains text[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  v_known boolean[];
  v_ids bigint[];
BEGIN
  SELECT array_agg(EXISTS (SELECT 1 FROM requests r WHERE r.queue = f.queue AND r.fp = e.fp) ORDER BY e.ord)
    INTO v_known FROM unnest(p_fps) WITH ORDINALITY AS e (fp, ord);
  IF NOT false = ANY (v_known) THEN
    RETURN array_fill(NULL::bigint, ARRAY[cardinality(p_fps)]);
  END IF;
  INSERT INTO domains (queue, name, turns)
    SELECT f.queue, n.name, turns_of(f, NULL)
    FROM (SELECT e.name, min(e.ord) AS ord FROM unnest(p_domains, v_known) WITH ORDINALITY AS e (name, known, ord)
      WHERE NOT e.known GROUP BY e.name) n
    WHERE NOT EXISTS (SELECT 1 FROM domains d WHERE d.queue = f.queue AND d.name = n.name)
    ORDER BY n.name
    ON CONFLICT DO NOTHING;
  SELECT array_agg(CASE WHEN NOT e.known THEN n.id END ORDER BY e.ord) INTO v_ids
    FROM unnest(p_domains, v_known) WITH ORDINALITY AS e (name, known, ord)
    JOIN (SELECT m.name, (SELECT d.id FROM domains d WHERE d.queue = f.queue AND d.name = m.name) AS id
      FROM (SELECT DISTINCT x AS name FROM unnest(p_domains) x) m) n ON n.name = e.name;
  RETURN v_ids;
END $$;

-- Queues the entries whose domains are known, and locked by the caller. A letter for each: new, pending or ended.
CREATE OR REPLACE FUNCTION accept(f frame, p_now bigint, p_fps bigint[], p_ids bigint[], p_records text[],
  p_priorities smallint[], p_fronts boolean[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  v_base bigint := nextval('steps') << 20;
  v_letters text;
  v_count bigint;
BEGIN
  WITH fresh AS MATERIALIZED (
    SELECT DISTINCT ON (e.fp) e.fp, e.id, e.record, e.priority, e.front, e.ord
    FROM unnest(p_fps, p_ids, p_records, p_priorities, p_fronts) WITH ORDINALITY AS e (fp, id, record, priority, front, ord)
    WHERE e.id IS NOT NULL ORDER BY e.fp, e.ord
  ), taken AS (
    INSERT INTO requests (queue, fp, domain, rank, priority, place, record)
      SELECT f.queue, fp, id, 2 - priority, priority, CASE WHEN front THEN -(v_base + ord) ELSE v_base + ord END, record
      FROM fresh ORDER BY fp
      ON CONFLICT DO NOTHING
      RETURNING fp
  ), mine AS MATERIALIZED (
    SELECT fresh.fp, fresh.id, fresh.ord FROM taken JOIN fresh USING (fp)
  ), grown AS (
    UPDATE domains d SET turns = turns_of(f, d.delay_ms), queued = d.queued + g.count,
      ready_ms = CASE WHEN d.queued = 0 THEN p_now ELSE d.ready_ms END,
      tie = CASE WHEN d.queued = 0 THEN v_base + g.ord ELSE d.tie END
    FROM (SELECT id, count(*) AS count, min(ord) AS ord FROM mine GROUP BY id) g WHERE d.id = g.id
  )
  SELECT string_agg(CASE WHEN mine.fp IS NOT NULL THEN 'n'
      WHEN (SELECT r.state FROM requests r WHERE r.queue = f.queue AND r.fp = e.fp) >= 3 THEN 'e' ELSE 'p' END,
      '' ORDER BY e.ord), count(mine.fp)
    INTO v_letters, v_count
    FROM unnest(p_fps) WITH ORDINALITY AS e (fp, ord) LEFT JOIN mine ON mine.ord = e.ord;
  PERFORM tally(f, p_now, v_count, v_count, 0, 0, 0, 0, 0, 0);
  RETURN v_letters;
END $$;

CREATE OR REPLACE FUNCTION add(f frame, p_holder text, p_call bigint, p_fps bigint[], p_domains text[], p_records text[],
  p_priorities smallint[], p_fronts boolean[], OUT now_ms bigint, OUT fate text, OUT letters text)
LANGUAGE plpgsql AS $$
DECLARE
  b record;
  v_ids bigint[];
BEGIN
  b := begin_call(f, p_holder, p_call);
  now_ms := b.now_ms;
  fate := b.fate;
  letters := b.answer;
  IF fate <> 'new' THEN
    RETURN;
  END IF;
  -- Adding needs no lease: a lost holder may still add what it found.
  letters := '';
  -- Who waits for a row that has changed meanwhile looks all wanted domains up again, for each such row: a second of CPU
  -- for 5,000 URLs. Large adds wait for each other here, before they have looked at anything.
  IF cardinality(p_fps) > 256 THEN
    PERFORM pg_advisory_xact_lock(1330791249, f.queue);
  END IF;
  IF cardinality(p_fps) > 0 THEN
    v_ids := sift(f, p_fps, p_domains);
    PERFORM 1 FROM domains WHERE id = ANY (v_ids) ORDER BY id FOR UPDATE;
    letters := accept(f, now_ms, p_fps, v_ids, p_records, p_priorities, p_fronts);
  END IF;
  PERFORM keep_answer(f, p_holder, p_call, letters);
END $$;
