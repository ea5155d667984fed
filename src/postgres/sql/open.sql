-- Processes come and go: a queue is opened, left properly, or its dead are found out. And what is only read.

-- The queue of that name, made when missing, and this process in it. Time goes on from where it was; a process that
-- comes new believes the server's clock, but not more than a minute beyond what those know that are at work.
CREATE OR REPLACE FUNCTION open_queue(p_name text, p_rules text, p_wall bigint, p_identity text,
  OUT queue integer, OUT opener integer, OUT rules text, OUT now_ms bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  v_wall bigint := coalesce(p_wall, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_seen bigint;
BEGIN
  INSERT INTO queues (name, rules) VALUES (p_name, p_rules) ON CONFLICT DO NOTHING;
  SELECT q.id, q.rules, v_wall - q.behind_ms, q.last_ms INTO queue, rules, now_ms, v_seen
    FROM queues q WHERE q.name = p_name FOR UPDATE;
  IF rules <> p_rules THEN
    RETURN;
  END IF;
  now_ms := greatest(now_ms, v_seen);
  SELECT greatest(now_ms, max(o.seen_ms)), max(o.seen_ms) INTO now_ms, v_seen FROM openers o
    WHERE o.queue = open_queue.queue AND o.identity IS NOT NULL;
  IF v_seen IS NOT NULL AND now_ms > v_seen + 60000 AND EXISTS (
    SELECT 1 FROM openers o WHERE o.queue = open_queue.queue AND o.identity IS NOT NULL AND is_connected(o.id)) THEN
    now_ms := v_seen + 60000;
  END IF;
  UPDATE queues q SET behind_ms = v_wall - now_ms, last_ms = now_ms WHERE q.id = queue;
  -- Lost so long ago that they cannot call any more.
  DELETE FROM lost l WHERE l.queue = open_queue.queue AND l.at_ms < now_ms - 86400000;
  DELETE FROM calls c WHERE c.queue = open_queue.queue AND c.at_ms < now_ms - 86400000;
  INSERT INTO openers (queue, identity, seen_ms) VALUES (queue, p_identity, now_ms) RETURNING id INTO opener;
END $$;

-- Whether a process has its connection: it holds a lock of its number as long as it has (see opening.ts).
CREATE OR REPLACE FUNCTION is_connected(p_opener integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(1330791248, p_opener) THEN
    RETURN true;
  END IF;
  RETURN false;
END $$;

-- Processes that have the queue open, without the caller.
CREATE OR REPLACE FUNCTION others(f frame) RETURNS TABLE (id integer, identity text, seen_ms bigint, connected boolean)
LANGUAGE sql AS $$
  SELECT o.id, o.identity, o.seen_ms, is_connected(o.id) FROM openers o
  WHERE o.queue = f.queue AND o.id <> f.opener AND o.identity IS NOT NULL
$$;

-- A process ended: what its holders have is lost, or with `p_kind` 'closed' goes back untouched. Its counts are the
-- queue's from now on.
CREATE OR REPLACE FUNCTION end_opener(f frame, p_opener integer, p_kind text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v record;
  v_now bigint := tick(f);
  v_count integer;
BEGIN
  PERFORM expire(f, v_now);
  FOR v IN SELECT id, name FROM holders WHERE queue = f.queue AND opener = p_opener ORDER BY id FOR UPDATE LOOP
    IF p_kind <> 'closed' THEN
      INSERT INTO lost VALUES (f.queue, v.name, v_now) ON CONFLICT DO NOTHING;
      PERFORM lose_holder(f, v_now, v.id, NULL, NULL);
      CONTINUE;
    END IF;
    PERFORM 1 FROM domains WHERE id IN (SELECT domain FROM requests WHERE state = 1 AND holder = v.id)
      ORDER BY id FOR UPDATE;
    UPDATE domains d SET queued = d.queued + g.count, turns_out = d.turns_out - g.turns, suspects = d.suspects + g.suspects
      FROM (SELECT domain, count(*) AS count, count(*) FILTER (WHERE NOT landed) AS turns,
        count(*) FILTER (WHERE trial > 0) AS suspects FROM requests WHERE state = 1 AND holder = v.id GROUP BY domain) g
      WHERE d.id = g.domain;
    UPDATE requests SET state = 0, holder = NULL, lease = NULL WHERE state = 1 AND holder = v.id;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    DELETE FROM holders WHERE id = v.id;
    PERFORM tally(f, v_now, 0, v_count, 0, -v_count, 0, 0, 0, 0);
  END LOOP;
  -- One row without a process has the counts of all that went.
  SELECT id INTO v_count FROM openers WHERE queue = f.queue AND identity IS NULL ORDER BY id LIMIT 1 FOR UPDATE;
  IF v_count IS NULL THEN
    UPDATE openers SET identity = NULL WHERE id = p_opener;
  ELSIF v_count <> p_opener THEN
    WITH gone AS (DELETE FROM openers WHERE id = p_opener RETURNING *)
    UPDATE openers o SET accepted = o.accepted + gone.accepted, queued = o.queued + gone.queued,
      retrying = o.retrying + gone.retrying, leased = o.leased + gone.leased, done = o.done + gone.done,
      failed = o.failed + gone.failed, skipped = o.skipped + gone.skipped, suspects = o.suspects + gone.suspects
    FROM gone WHERE o.id = v_count;
  END IF;
  UPDATE queues SET last_ms = greatest(last_ms, v_now) WHERE id = f.queue;
  RETURN v_now;
END $$;

CREATE OR REPLACE FUNCTION overview(f frame, OUT now_ms bigint, OUT numbers bigint[], OUT names text[], OUT texts text[])
LANGUAGE plpgsql AS $$
BEGIN
  now_ms := tick(f);
  PERFORM expire(f, now_ms);
  SELECT ARRAY[accepted, queued, retrying, leased, done, failed, skipped] INTO numbers FROM counters(f.queue);
  SELECT array_agg(n.name), array_agg(n.text) INTO names, texts FROM notes n WHERE n.queue = f.queue;
END $$;

CREATE OR REPLACE FUNCTION find_requests(f frame, p_fps bigint[])
RETURNS TABLE (ord bigint, state smallint, record text, priority smallint, reason text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM expire(f, tick(f));
  RETURN QUERY SELECT e.ord, r.state, r.record, r.priority, r.reason FROM unnest(p_fps) WITH ORDINALITY AS e (fp, ord)
    CROSS JOIN LATERAL (SELECT * FROM requests r WHERE r.queue = f.queue AND r.fp = e.fp) r;
END $$;

-- Still here, and the time: so that those who come new know what passed.
CREATE OR REPLACE FUNCTION beat(f frame, OUT now_ms bigint) LANGUAGE plpgsql AS $$
BEGIN
  now_ms := tick(f);
  PERFORM tally(f, now_ms, 0, 0, 0, 0, 0, 0, 0, 0);
END $$;

CREATE OR REPLACE FUNCTION drop_queue(p_queue integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM hosts h USING queues q WHERE q.id = p_queue AND h.queue = q.name;
  DELETE FROM queues WHERE id = p_queue;
  DELETE FROM openers WHERE queue = p_queue;
  DELETE FROM holders WHERE queue = p_queue;
  DELETE FROM lost WHERE queue = p_queue;
  DELETE FROM calls WHERE queue = p_queue;
  DELETE FROM notes WHERE queue = p_queue;
  DELETE FROM requests WHERE queue = p_queue;
  DELETE FROM domains WHERE queue = p_queue;
END $$;
