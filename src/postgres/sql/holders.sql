-- Holders: renewed by any call, lost when silent, released or dead. What one held goes to the front of its domains as
-- suspects, tried in ever smaller company; a holder that was lost is refused for ever.

-- The trial number after a loss with so many in the same hands; 0 ends the request.
CREATE OR REPLACE FUNCTION trial_after(p_trial integer, p_together integer) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_together > 1 THEN least(255, greatest(3, p_together / 2))
    ELSE least(coalesce(nullif(p_trial, 0), 3), 3) - 1 END
$$;

CREATE OR REPLACE FUNCTION lose_holder(f frame, p_now bigint, p_holder bigint, p_blamed bigint[], p_code text)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v record;
  v_base bigint := nextval('steps') << 20;
  v_count integer := 0;
  v_together integer;
  v_blamed integer;
  v_trial integer;
  v_queued integer := 0;
  v_failed integer := 0;
  v_suspects integer := 0;
BEGIN
  PERFORM 1 FROM domains WHERE id IN (SELECT domain FROM requests WHERE state = 1 AND holder = p_holder)
    ORDER BY id FOR UPDATE;
  SELECT count(*) FILTER (WHERE NOT bulk), count(*) FILTER (WHERE NOT bulk AND lease = ANY (p_blamed))
    INTO v_together, v_blamed FROM requests WHERE state = 1 AND holder = p_holder;
  IF v_blamed > 0 THEN
    v_together := v_blamed;
  END IF;
  -- The last in the queue first: each goes before the one before, so their order stays.
  FOR v IN SELECT queue, fp, domain, landed, bulk, rank, trial, v_blamed > 0 AND NOT lease = ANY (p_blamed) AS innocent
    FROM requests WHERE state = 1 AND holder = p_holder ORDER BY rank DESC, place DESC
  LOOP
    v_count := v_count + 1;
    IF NOT v.landed THEN
      -- Nobody knows whether the server was asked: the delay runs from now.
      UPDATE domains SET turns_out = turns_out - 1, turns = turns_of(f, delay_ms),
        ready_ms = CASE WHEN turns_out >= turns_of(f, delay_ms) THEN p_now ELSE ready_ms END,
        allowed_ms = CASE WHEN coalesce(delay_ms, f.delay_ms) > 0
          THEN greatest(allowed_ms, p_now + coalesce(delay_ms, f.delay_ms)) ELSE allowed_ms END
      WHERE id = v.domain;
    END IF;
    IF v.bulk OR v.innocent THEN
      v_queued := v_queued + 1;
      UPDATE requests SET state = 0, holder = NULL, lease = NULL WHERE queue = v.queue AND fp = v.fp;
      UPDATE domains SET queued = queued + 1, suspects = suspects + (v.trial > 0)::integer WHERE id = v.domain;
      CONTINUE;
    END IF;
    v_trial := CASE WHEN v_blamed = 1 AND p_code IS NOT NULL THEN 0 ELSE trial_after(v.trial, v_together) END;
    v_suspects := v_suspects + (v_trial > 0)::integer - (v.trial > 0)::integer;
    IF v_trial > 0 THEN
      v_queued := v_queued + 1;
      UPDATE requests SET state = 0, holder = NULL, lease = NULL, lost = least(255, lost + 1), trial = v_trial,
        rank = -1, place = -(v_base + v_count)
      WHERE queue = v.queue AND fp = v.fp;
      UPDATE domains SET ready_ms = CASE WHEN queued = 0 THEN p_now ELSE ready_ms END, queued = queued + 1,
        suspects = suspects + 1, tie = v_base + v_count
      WHERE id = v.domain;
    ELSE
      v_failed := v_failed + 1;
      UPDATE requests SET state = 4, holder = NULL, lease = NULL, lost = least(255, lost + 1), trial = 0,
        reason = coalesce(p_code, 'WORKER_LOST')
      WHERE queue = v.queue AND fp = v.fp;
    END IF;
  END LOOP;
  DELETE FROM holders WHERE id = p_holder;
  PERFORM tally(f, p_now, 0, v_queued, 0, -v_count, 0, v_failed, 0, v_suspects);
  RETURN v_count;
END $$;

-- Loses every holder that was silent for longer than its lease time. One that held nothing is only forgotten.
CREATE OR REPLACE FUNCTION expire(f frame, p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v record;
BEGIN
  FOR v IN SELECT id, name FROM holders WHERE queue = f.queue AND seen_ms < p_now - f.lease_ms ORDER BY id
    FOR UPDATE SKIP LOCKED
  LOOP
    IF lose_holder(f, p_now, v.id, NULL, NULL) > 0 THEN
      INSERT INTO lost VALUES (f.queue, v.name, p_now) ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
END $$;

-- The start of a numbered call: the time, the silent expired, the caller renewed, and its answer if it was made before.
-- `fate`: 'new', 'again' (with its answer) or 'old', too old to be repeated. `holder` is null for one that never leased.
-- A repeated call waits here until the first has committed, whichever connection that was sent by.
CREATE OR REPLACE FUNCTION begin_call(f frame, p_holder text, p_call bigint,
  OUT now_ms bigint, OUT holder bigint, OUT is_lost boolean, OUT fate text, OUT answer text)
LANGUAGE plpgsql AS $$
DECLARE v_last bigint;
BEGIN
  now_ms := tick(f);
  INSERT INTO calls AS c (queue, holder, slot, call, at_ms) VALUES (f.queue, p_holder, p_call % 16, p_call, now_ms)
    ON CONFLICT ON CONSTRAINT calls_pkey DO UPDATE SET call = excluded.call, at_ms = excluded.at_ms, answer = NULL
      WHERE c.call < excluded.call
    RETURNING c.call INTO v_last;
  IF v_last IS NULL THEN
    SELECT c.call, c.answer INTO v_last, answer FROM calls c
      WHERE c.queue = f.queue AND c.holder = p_holder AND c.slot = p_call % 16;
    fate := CASE WHEN v_last = p_call THEN 'again' ELSE 'old' END;
  ELSE
    fate := 'new';
  END IF;
  PERFORM expire(f, now_ms);
  UPDATE holders h SET seen_ms = greatest(seen_ms, now_ms) WHERE h.queue = f.queue AND h.name = p_holder
    RETURNING h.id INTO holder;
  is_lost := holder IS NULL AND EXISTS (SELECT 1 FROM lost l WHERE l.queue = f.queue AND l.holder = p_holder);
END $$;

CREATE OR REPLACE FUNCTION keep_answer(f frame, p_holder text, p_call bigint, p_answer text) RETURNS void
LANGUAGE sql AS $$
  UPDATE calls SET answer = p_answer WHERE queue = f.queue AND holder = p_holder AND slot = p_call % 16
$$;

CREATE OR REPLACE FUNCTION release(f frame, p_holder text, p_blamed bigint[], p_code text,
  OUT now_ms bigint, OUT leases integer)
LANGUAGE plpgsql AS $$
DECLARE v_holder bigint;
BEGIN
  now_ms := tick(f);
  PERFORM expire(f, now_ms);
  INSERT INTO lost VALUES (f.queue, p_holder, now_ms) ON CONFLICT DO NOTHING;
  SELECT id INTO v_holder FROM holders WHERE queue = f.queue AND name = p_holder FOR UPDATE;
  leases := CASE WHEN v_holder IS NULL THEN 0 ELSE lose_holder(f, now_ms, v_holder, p_blamed, p_code) END;
  PERFORM tally(f, now_ms, 0, 0, 0, 0, 0, 0, 0, 0);
END $$;
