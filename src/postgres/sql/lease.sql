-- Leases due requests: the longest-due domains that nobody else is working on at this moment (SKIP LOCKED), one request
-- of each in turn. Taking a request and its domain's turn is one step.

CREATE OR REPLACE FUNCTION return_retries(f frame, p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  v_base bigint;
  v_fps bigint[];
  v_domains bigint[];
BEGIN
  SELECT array_agg(fp ORDER BY retry_ms DESC), array_agg(domain) INTO v_fps, v_domains FROM (
    SELECT fp, domain, retry_ms FROM requests WHERE queue = f.queue AND state = 2 AND retry_ms <= p_now
      ORDER BY retry_ms LIMIT 1000 FOR UPDATE SKIP LOCKED) w;
  IF v_fps IS NULL THEN
    RETURN;
  END IF;
  v_base := nextval('steps') << 20;
  PERFORM 1 FROM domains WHERE id = ANY (v_domains) ORDER BY id FOR UPDATE;
  -- Each goes to the very front, so the one that waited longest goes last.
  UPDATE requests r SET state = 0, place = CASE WHEN r.to_end THEN v_base + e.ord ELSE -(v_base + e.ord) END
    FROM unnest(v_fps) WITH ORDINALITY AS e (fp, ord) WHERE r.queue = f.queue AND r.fp = e.fp;
  UPDATE domains d SET queued = d.queued + g.count, turns = turns_of(f, d.delay_ms),
      ready_ms = CASE WHEN d.queued = 0 THEN p_now ELSE d.ready_ms END,
      tie = CASE WHEN d.queued = 0 THEN v_base + g.ord ELSE d.tie END
    FROM (SELECT id, count(*) AS count, min(ord) AS ord FROM unnest(v_domains) WITH ORDINALITY AS x (id, ord)
      GROUP BY id) g WHERE d.id = g.id;
  PERFORM tally(f, p_now, 0, cardinality(v_fps), -cardinality(v_fps), 0, 0, 0, 0, 0);
END $$;

-- The counters of all processes together.
CREATE OR REPLACE FUNCTION counters(p_queue integer, OUT accepted bigint, OUT queued bigint, OUT retrying bigint,
  OUT leased bigint, OUT done bigint, OUT failed bigint, OUT skipped bigint, OUT suspects bigint)
LANGUAGE sql AS $$
  SELECT coalesce(sum(o.accepted), 0), coalesce(sum(o.queued), 0), coalesce(sum(o.retrying), 0),
    coalesce(sum(o.leased), 0), coalesce(sum(o.done), 0), coalesce(sum(o.failed), 0), coalesce(sum(o.skipped), 0),
    coalesce(sum(o.suspects), 0)
  FROM openers o WHERE o.queue = p_queue
$$;

-- What a holder may get now: ordinary requests, only suspects, or nothing until it has settled.
CREATE OR REPLACE FUNCTION share_of(f frame, p_now bigint, p_holder bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE v_trial integer;
BEGIN
  SELECT trial INTO v_trial FROM requests WHERE state = 1 AND holder = p_holder LIMIT 1;
  IF v_trial > 0 THEN
    RETURN 'nothing';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM domains WHERE queue = f.queue AND suspects > 0 AND due_ms <= p_now) THEN
    RETURN 'ordinary';
  END IF;
  IF v_trial IS NULL THEN
    RETURN 'trial';
  END IF;
  -- Suspects must not wait for a holder to become idle by chance: one of them gets nothing more until it is.
  IF EXISTS (SELECT 1 FROM queues q JOIN holders h ON h.id = q.judge WHERE q.id = f.queue AND h.id <> p_holder) THEN
    RETURN 'ordinary';
  END IF;
  UPDATE queues SET judge = p_holder WHERE id = f.queue AND judge <> p_holder;
  RETURN 'nothing';
END $$;

-- Takes up to so many requests of due domains, in turn; how many. The domains are locked by a statement of its own: what
-- follows then sees all that others did to them before. In one statement, requests would be seen as they were before
-- the lock, and one that another process had just taken would be taken again.
CREATE OR REPLACE FUNCTION take_ordinary(f frame, p_now bigint, p_holder bigint, p_base bigint, p_wanted integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_step bigint := nextval('steps') << 20;
  v_locked bigint[];
  v_count integer;
BEGIN
  SELECT array_agg(d.id) INTO v_locked FROM (
    SELECT id FROM domains WHERE queue = f.queue AND suspects = 0 AND due_ms <= p_now
    ORDER BY due_ms, tie LIMIT p_wanted FOR UPDATE SKIP LOCKED) d;
  IF v_locked IS NULL THEN
    RETURN 0;
  END IF;
  WITH line AS MATERIALIZED (
    SELECT id, queued, turns_out, turns_of(f, delay_ms) AS turns, row_number() OVER (ORDER BY due_ms, tie) AS pos
    FROM domains WHERE id = ANY (v_locked) AND suspects = 0 AND due_ms <= p_now
  ), picked AS (
    SELECT l.id, l.pos, g.round FROM line l
    CROSS JOIN LATERAL generate_series(1, least(l.queued, l.turns - l.turns_out, p_wanted)) AS g (round)
    ORDER BY g.round, l.pos LIMIT p_wanted
  ), took AS MATERIALIZED (
    SELECT id, pos, max(round) AS count, row_number() OVER (ORDER BY max(round), pos) AS back FROM picked GROUP BY id, pos
  ), firsts AS MATERIALIZED (
    SELECT r.fp, row_number() OVER (ORDER BY r.nth, t.pos) AS ord FROM took t CROSS JOIN LATERAL (
      SELECT fp, row_number() OVER (ORDER BY rank, place) AS nth FROM (
        SELECT fp, rank, place FROM requests WHERE domain = t.id AND state = 0 ORDER BY rank, place LIMIT t.count) q) r
  ), leased AS (
    UPDATE requests r SET state = 1, holder = p_holder, lease = p_base + firsts.ord, landed = false, bulk = false
    FROM firsts WHERE r.queue = f.queue AND r.fp = firsts.fp RETURNING 1
  ), turned AS (
    -- To the back of the line if it may be asked again at once; otherwise it keeps how long it was ready.
    UPDATE domains d SET queued = d.queued - coalesce(t.count, 0), turns_out = d.turns_out + coalesce(t.count, 0),
      turns = l.turns,
      ready_ms = CASE WHEN t.count < least(d.queued, l.turns - d.turns_out) THEN p_now ELSE d.ready_ms END,
      tie = CASE WHEN t.count < least(d.queued, l.turns - d.turns_out) THEN v_step + t.back ELSE d.tie END
    FROM line l LEFT JOIN took t ON t.id = l.id
    WHERE d.id = l.id AND (t.id IS NOT NULL OR d.turns <> l.turns)
  )
  SELECT count(*) INTO v_count FROM leased;
  RETURN v_count;
END $$;

-- Takes the suspects that may be tried together; how many.
CREATE OR REPLACE FUNCTION take_trial(f frame, p_now bigint, p_holder bigint, p_base bigint, p_wanted integer)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_domain record;
  v_request record;
  v_together integer := p_wanted;
  v_count integer := 0;
BEGIN
  FOR v_domain IN SELECT id, turns_of(f, delay_ms) - turns_out AS room FROM domains
    WHERE queue = f.queue AND suspects > 0 AND due_ms <= p_now ORDER BY due_ms, tie LIMIT p_wanted FOR UPDATE SKIP LOCKED
  LOOP
    FOR v_request IN SELECT fp, trial FROM requests WHERE domain = v_domain.id AND state = 0 AND rank = -1
      ORDER BY rank, place LIMIT greatest(0, v_domain.room)
    LOOP
      v_together := least(v_together, CASE WHEN v_request.trial > 3 THEN v_request.trial ELSE 1 END);
      IF v_count >= v_together THEN
        RETURN v_count;
      END IF;
      v_count := v_count + 1;
      UPDATE requests SET state = 1, holder = p_holder, lease = p_base + v_count, landed = false, bulk = false
        WHERE queue = f.queue AND fp = v_request.fp;
      UPDATE domains SET queued = queued - 1, suspects = suspects - 1, turns_out = turns_out + 1,
        turns = turns_of(f, delay_ms) WHERE id = v_domain.id;
    END LOOP;
  END LOOP;
  RETURN v_count;
END $$;

-- More requests of the named domains that got a turn in this call: they hold none themselves; how many.
CREATE OR REPLACE FUNCTION take_bulk(f frame, p_holder bigint, p_base bigint, p_taken integer, p_names text[],
  p_most integer, p_of_domain integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v record;
  v_count integer := 0;
  v_got integer;
BEGIN
  FOR v IN SELECT d.id FROM (SELECT name, min(ord) AS ord FROM unnest(p_names) WITH ORDINALITY AS n (name, ord)
      GROUP BY name) n
    JOIN domains d ON d.queue = f.queue AND d.name = n.name
    WHERE EXISTS (SELECT 1 FROM requests r WHERE r.state = 1 AND r.holder = p_holder AND r.domain = d.id
      AND r.lease BETWEEN p_base + 1 AND p_base + p_taken)
    ORDER BY n.ord
  LOOP
    EXIT WHEN v_count >= p_most;
    WITH next AS MATERIALIZED (
      SELECT fp, row_number() OVER (ORDER BY rank, place) AS nth FROM (
        SELECT fp, rank, place FROM requests WHERE domain = v.id AND state = 0 ORDER BY rank, place
        LIMIT least(p_of_domain, p_most - v_count)) q
    ), leased AS (
      UPDATE requests r SET state = 1, holder = p_holder, lease = p_base + p_taken + v_count + next.nth, landed = true,
        bulk = true FROM next WHERE r.queue = f.queue AND r.fp = next.fp RETURNING 1
    )
    SELECT count(*) INTO v_got FROM leased;
    UPDATE domains SET queued = queued - v_got WHERE id = v.id AND v_got > 0;
    v_count := v_count + v_got;
  END LOOP;
  RETURN v_count;
END $$;

-- The first row tells how the call ended: its state ('lost' and 'old' are refusals), and when the next is due. The leases
-- follow in their order. A repeated call gets those of its leases that are still held.
CREATE OR REPLACE FUNCTION lease(f frame, p_holder text, p_call bigint, p_max integer, p_limit bigint, p_bulk text[],
  p_bulk_most integer, p_bulk_of_domain integer)
RETURNS TABLE (now_ms bigint, state text, next_ms bigint, lease bigint, fp bigint, domain text, record text,
  priority smallint, lost smallint, delay_ms bigint, bulk boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  b record;
  c record;
  v_holder bigint;
  v_base bigint;
  v_allowed bigint;
  v_wanted integer;
  v_share text := 'ordinary';
  v_taken integer := 0;
  v_bulk integer := 0;
  v_next bigint;
  v_state text;
BEGIN
  b := begin_call(f, p_holder, p_call);
  v_holder := b.holder;
  IF b.fate = 'old' OR b.is_lost THEN
    RETURN QUERY SELECT b.now_ms, CASE WHEN b.fate = 'old' THEN 'old' ELSE 'lost' END, NULL::bigint, NULL::bigint,
      NULL::bigint, NULL, NULL, NULL::smallint, NULL::smallint, NULL::bigint, NULL::boolean;
    RETURN;
  END IF;
  IF b.fate = 'again' AND b.answer IS NOT NULL THEN
    v_state := split_part(b.answer, ' ', 1);
    v_next := nullif(split_part(b.answer, ' ', 2), '')::bigint;
    v_base := split_part(b.answer, ' ', 3)::bigint;
  ELSE
    PERFORM return_retries(f, b.now_ms);
    c := counters(f.queue);
    IF p_max > 0 AND (p_limit IS NOT NULL OR c.suspects > 0) THEN
      -- Only one at a time counts what may still end, or judges suspects.
      PERFORM pg_advisory_xact_lock(1330791247, f.queue);
      c := counters(f.queue);
    END IF;
    v_allowed := p_limit - c.failed - c.done - c.leased;
    v_wanted := greatest(0, least(p_max, v_allowed, 15000));
    v_base := nextval('steps') << 14;
    IF v_wanted > 0 THEN
      IF c.suspects > 0 THEN
        v_share := share_of(f, b.now_ms, v_holder);
      END IF;
      v_holder := coalesce(v_holder, nextval('steps'));
      IF v_share = 'ordinary' THEN
        v_taken := take_ordinary(f, b.now_ms, v_holder, v_base, v_wanted);
      ELSIF v_share = 'trial' THEN
        v_taken := take_trial(f, b.now_ms, v_holder, v_base, v_wanted);
      END IF;
    END IF;
    IF v_taken > 0 THEN
      IF v_share = 'ordinary' AND cardinality(p_bulk) > 0 THEN
        v_bulk := take_bulk(f, v_holder, v_base, v_taken, p_bulk, least(p_bulk_most, v_allowed - v_taken)::integer,
          p_bulk_of_domain);
      END IF;
      IF b.holder IS NULL THEN
        INSERT INTO holders (id, queue, opener, seen_ms, name) VALUES (v_holder, f.queue, f.opener, b.now_ms, p_holder);
      END IF;
    END IF;
    PERFORM tally(f, b.now_ms, 0, -(v_taken + v_bulk), 0, v_taken + v_bulk, 0, 0, 0, 0);
    IF p_max > 0 AND v_taken = p_max THEN
      v_state := 'more';
    ELSE
      c := counters(f.queue);
      IF c.queued + c.retrying + c.leased = 0 THEN
        v_state := 'exhausted';
      ELSIF v_share <> 'ordinary' THEN
        -- Once its leases are settled there is more for it; when is unknown.
        v_state := 'waiting';
        v_next := 100;
      ELSE
        v_state := 'waiting';
        -- If only the limit holds requests back, time alone will not free them.
        IF NOT (v_taken = v_wanted AND v_wanted < p_max AND coalesce(v_allowed, p_max) < p_max) THEN
          SELECT least(
            (SELECT min(d.due_ms) FROM domains d WHERE d.queue = f.queue AND d.suspects = 0 AND d.due_ms IS NOT NULL),
            (SELECT min(d.due_ms) FROM domains d WHERE d.queue = f.queue AND d.suspects > 0 AND d.due_ms IS NOT NULL),
            (SELECT min(r.retry_ms) FROM requests r WHERE r.queue = f.queue AND r.state = 2)) - b.now_ms INTO v_next;
          IF v_next <= 0 AND p_max = 0 THEN
            v_state := 'more';
            v_next := NULL;
          ELSIF v_next <= 0 THEN
            -- Another call has its domain at this moment.
            v_next := 5;
          END IF;
        END IF;
      END IF;
    END IF;
    PERFORM keep_answer(f, p_holder, p_call, format('%s %s %s', v_state, v_next, v_base));
  END IF;
  RETURN QUERY SELECT b.now_ms, v_state, v_next, NULL::bigint, NULL::bigint, NULL, NULL, NULL::smallint,
    NULL::smallint, NULL::bigint, NULL::boolean;
  RETURN QUERY SELECT NULL::bigint, NULL, NULL::bigint, r.lease, r.fp, d.name, r.record, r.priority, r.lost,
    coalesce(d.delay_ms, f.delay_ms), r.bulk
    FROM requests r JOIN domains d ON d.id = r.domain
    WHERE r.state = 1 AND r.holder = v_holder AND r.lease > v_base AND r.lease <= v_base + 16383 ORDER BY r.lease;
END $$;
