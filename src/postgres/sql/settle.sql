-- Responses land, visits end or return to the queue, links are queued and notes written: one step.
-- A lease that is not the caller's is refused, with everything that came with it.
-- kinds: 3 done, 4 failed, 5 skipped (the states), 2 retry, 0 untouched.

CREATE OR REPLACE FUNCTION settle(f frame, p_holder text, p_call bigint,
  p_landed bigint[], p_delays bigint[], p_pauses bigint[],
  p_leases bigint[], p_kinds smallint[], p_afters bigint[], p_backs boolean[], p_reasons text[], p_records text[],
  p_froms integer[], p_fps bigint[], p_domains text[], p_link_records text[], p_priorities smallint[], p_fronts boolean[],
  p_notes text[], p_texts text[],
  OUT now_ms bigint, OUT fate text, OUT held boolean, OUT accepted text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  b record;
  v record;
  v_base bigint := nextval('steps') << 20;
  v_accepted boolean[];
  -- Domains of the caller's leases, and what becomes of them.
  d_id bigint[];
  d_delay bigint[];
  d_allowed bigint[];
  d_ready bigint[];
  d_queued integer[];
  d_out integer[];
  d_suspects integer[];
  d_tie bigint[];
  v_gone bigint[] := '{}';
  v_links bigint[];
  v_rest bigint;
  v_count integer[] := ARRAY[0, 0, 0, 0, 0, 0];
  v_all integer := 0;
  v_cleared integer := 0;
  i integer;
BEGIN
  b := begin_call(f, p_holder, p_call);
  now_ms := b.now_ms;
  fate := b.fate;
  IF fate = 'again' THEN
    held := b.answer NOT LIKE '-%';
    accepted := ltrim(b.answer, '-+');
  END IF;
  IF fate <> 'new' THEN
    RETURN;
  END IF;
  held := NOT b.is_lost;
  IF NOT held THEN
    accepted := repeat('0', cardinality(p_leases));
    PERFORM keep_answer(f, p_holder, p_call, '-' || accepted);
    RETURN;
  END IF;

  -- The caller's leases are its own while it has its row: nobody else can end them now.
  SELECT array_agg(ok AND nth = 1 ORDER BY ord) INTO v_accepted FROM (
    SELECT ord, ok, row_number() OVER (PARTITION BY lease, ok ORDER BY ord) AS nth FROM (
      SELECT s.ord, s.lease, r.fp IS NOT NULL AND (NOT r.bulk OR s.kind IN (0, 4, 5)) AS ok
      FROM unnest(p_leases, p_kinds) WITH ORDINALITY AS s (lease, kind, ord)
      LEFT JOIN LATERAL (SELECT fp, bulk FROM requests r WHERE r.state = 1 AND r.holder = b.holder AND r.lease = s.lease)
        r ON true) a) n;
  IF cardinality(p_fps) > 0 THEN
    SELECT array_agg(l.fp ORDER BY l.ord), array_agg(l.domain ORDER BY l.ord), array_agg(l.record ORDER BY l.ord),
      array_agg(l.priority ORDER BY l.ord), array_agg(l.front ORDER BY l.ord)
      INTO p_fps, p_domains, p_link_records, p_priorities, p_fronts
      FROM unnest(p_froms, p_fps, p_domains, p_link_records, p_priorities, p_fronts)
        WITH ORDINALITY AS l ("from", fp, domain, record, priority, front, ord)
      WHERE v_accepted[l."from"];
    IF p_fps IS NOT NULL THEN
      v_links := sift(f, p_fps, p_domains);
    END IF;
  END IF;
  SELECT array_agg(DISTINCT r.domain) INTO d_id FROM unnest(p_landed || p_leases) AS s (lease)
    CROSS JOIN LATERAL (SELECT domain FROM requests r WHERE r.state = 1 AND r.holder = b.holder AND r.lease = s.lease) r;
  PERFORM 1 FROM domains WHERE id = ANY (d_id || v_links) ORDER BY id FOR UPDATE;
  SELECT array_agg(id ORDER BY id), array_agg(delay_ms ORDER BY id), array_agg(allowed_ms ORDER BY id),
    array_agg(ready_ms ORDER BY id), array_agg(queued ORDER BY id), array_agg(turns_out ORDER BY id),
    array_agg(suspects ORDER BY id), array_agg(tie ORDER BY id)
    INTO d_id, d_delay, d_allowed, d_ready, d_queued, d_out, d_suspects, d_tie FROM domains WHERE id = ANY (d_id);

  FOR v IN SELECT l.lease, l.delay_ms, l.pause_ms, x.pos FROM (
      SELECT DISTINCT ON (lease) lease, delay_ms, pause_ms, ord
      FROM unnest(p_landed, p_delays, p_pauses) WITH ORDINALITY AS l (lease, delay_ms, pause_ms, ord)
      ORDER BY lease, ord) l
    CROSS JOIN LATERAL (SELECT domain FROM requests r WHERE r.state = 1 AND r.holder = b.holder AND r.lease = l.lease
      AND NOT r.landed) r
    JOIN unnest(d_id) WITH ORDINALITY AS x (id, pos) ON x.id = r.domain
    ORDER BY l.ord
  LOOP
    -- The response has ended: the turn is free, and the delay starts now.
    i := v.pos;
    IF d_out[i] >= turns_of(f, d_delay[i]) THEN
      d_ready[i] := now_ms;
      d_tie[i] := v_base + cardinality(v_gone);
    END IF;
    d_out[i] := d_out[i] - 1;
    d_delay[i] := coalesce(v.delay_ms, d_delay[i]);
    v_rest := greatest(coalesce(d_delay[i], f.delay_ms), v.pause_ms);
    IF v_rest > 0 THEN
      d_allowed[i] := greatest(d_allowed[i], now_ms + v_rest);
    END IF;
    v_gone := v_gone || v.lease;
  END LOOP;
  IF cardinality(v_gone) > 0 THEN
    UPDATE requests SET landed = true WHERE state = 1 AND holder = b.holder AND lease = ANY (v_gone)
      AND NOT lease = ANY (p_leases);
  END IF;

  FOR v IN SELECT s.kind, s.after_ms, x.pos, s.ord, r.trial, r.landed OR s.lease = ANY (v_gone) AS landed
    FROM unnest(p_leases, p_kinds, p_afters, v_accepted) WITH ORDINALITY AS s (lease, kind, after_ms, ok, ord)
    CROSS JOIN LATERAL (SELECT domain, trial, landed FROM requests r WHERE r.state = 1 AND r.holder = b.holder
      AND r.lease = s.lease) r
    JOIN unnest(d_id) WITH ORDINALITY AS x (id, pos) ON x.id = r.domain
    WHERE s.ok ORDER BY s.ord
  LOOP
    i := v.pos;
    v_all := v_all + 1;
    IF NOT v.landed THEN
      -- Never sent: the turn returns unused, and the domain is due as before.
      d_out[i] := d_out[i] - 1;
    END IF;
    IF v.trial > 0 THEN
      IF v.kind = 0 THEN
        d_suspects[i] := d_suspects[i] + 1;
      ELSE
        v_cleared := v_cleared + 1;
      END IF;
    END IF;
    IF v.kind = 2 AND v.after_ms = 0 AND d_queued[i] = 0 THEN
      d_ready[i] := now_ms;
      d_tie[i] := v_base + v.ord;
    END IF;
    IF v.kind = 0 OR (v.kind = 2 AND v.after_ms = 0) THEN
      d_queued[i] := d_queued[i] + 1;
      v_count[1] := v_count[1] + 1;
    ELSE
      v_count[v.kind + 1] := v_count[v.kind + 1] + 1;
    END IF;
  END LOOP;
  IF v_all > 0 THEN
    UPDATE requests r SET
      state = CASE WHEN s.kind = 2 AND s.after_ms = 0 THEN 0 ELSE s.kind END,
      trial = CASE WHEN s.kind = 0 THEN r.trial ELSE 0 END,
      rank = CASE WHEN s.kind = 0 THEN r.rank ELSE 2 - r.priority END,
      place = CASE WHEN s.kind <> 2 THEN r.place WHEN s.back THEN v_base + s.ord ELSE -(v_base + s.ord) END,
      retry_ms = CASE WHEN s.kind = 2 AND s.after_ms > 0 THEN b.now_ms + s.after_ms END,
      to_end = s.kind = 2 AND s.back,
      reason = CASE WHEN s.kind IN (4, 5) THEN s.reason END,
      record = coalesce(s.record, r.record),
      holder = NULL, lease = NULL
    FROM unnest(p_leases, p_kinds, p_afters, p_backs, p_reasons, p_records, v_accepted)
      WITH ORDINALITY AS s (lease, kind, after_ms, back, reason, record, ok, ord)
    WHERE s.ok AND r.state = 1 AND r.holder = b.holder AND r.lease = s.lease;
  END IF;
  IF cardinality(v_gone) > 0 OR v_all > 0 THEN
    UPDATE domains d SET delay_ms = n.delay_ms, allowed_ms = n.allowed_ms, ready_ms = n.ready_ms, queued = n.queued,
      turns_out = n.turns_out, suspects = n.suspects, tie = n.tie, turns = turns_of(f, n.delay_ms)
    FROM unnest(d_id, d_delay, d_allowed, d_ready, d_queued, d_out, d_suspects, d_tie)
      AS n (id, delay_ms, allowed_ms, ready_ms, queued, turns_out, suspects, tie)
    WHERE d.id = n.id;
  END IF;
  IF v_links IS NOT NULL THEN
    PERFORM accept(f, now_ms, p_fps, v_links, p_link_records, p_priorities, p_fronts);
  END IF;
  IF cardinality(p_notes) > 0 THEN
    DELETE FROM notes WHERE queue = f.queue AND name IN
      (SELECT n.name FROM unnest(p_notes, p_texts) AS n (name, text) WHERE n.text IS NULL);
    INSERT INTO notes (queue, name, text)
      SELECT f.queue, n.name, n.text FROM unnest(p_notes, p_texts) AS n (name, text) WHERE n.text IS NOT NULL ORDER BY n.name
      ON CONFLICT ON CONSTRAINT notes_pkey DO UPDATE SET text = excluded.text;
  END IF;
  PERFORM tally(f, now_ms, 0, v_count[1], v_count[3], -v_all, v_count[4], v_count[5], v_count[6], -v_cleared);
  SELECT coalesce(string_agg(CASE WHEN ok THEN '1' ELSE '0' END, '' ORDER BY ord), '') INTO accepted
    FROM unnest(v_accepted) WITH ORDINALITY AS a (ok, ord);
  PERFORM keep_answer(f, p_holder, p_call, '+' || accepted);
END $$;
