-- Store time: the server's clock less what it jumped ahead. It never runs backwards. Every caller says between what
-- bounds it must be by its own monotonic clock; the first that sees it outside corrects it for all.

CREATE OR REPLACE FUNCTION tick(f frame) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  v_wall bigint := coalesce(f.wall_ms, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  v_now bigint;
  -- A call may have been on its way for so long: the server's clock did not jump.
  c_on_its_way_ms CONSTANT bigint := 250;
BEGIN
  SELECT v_wall - behind_ms INTO v_now FROM queues WHERE id = f.queue;
  IF v_now IS NULL THEN
    RAISE EXCEPTION 'the queue is gone' USING ERRCODE = 'OC001';
  END IF;
  IF (f.upper_ms IS NULL OR v_now <= f.upper_ms + c_on_its_way_ms) AND (f.lower_ms IS NULL OR v_now >= f.lower_ms) THEN
    RETURN v_now;
  END IF;
  SELECT v_wall - behind_ms INTO v_now FROM queues WHERE id = f.queue FOR UPDATE;
  IF v_now > f.upper_ms + c_on_its_way_ms THEN
    v_now := f.upper_ms;
  ELSIF v_now < f.lower_ms THEN
    v_now := f.lower_ms;
  END IF;
  UPDATE queues SET behind_ms = v_wall - v_now WHERE id = f.queue;
  RETURN v_now;
END $$;

-- How many turns a domain has; a delay means one.
CREATE OR REPLACE FUNCTION turns_of(f frame, p_delay_ms bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN coalesce(p_delay_ms, f.delay_ms) > 0 THEN 1 ELSE f.turns END
$$;

-- Moves counts between counters; each process has its share of them, so that no two wait for each other.
CREATE OR REPLACE FUNCTION tally(f frame, p_now bigint, p_accepted bigint, p_queued bigint, p_retrying bigint,
  p_leased bigint, p_done bigint, p_failed bigint, p_skipped bigint, p_suspects bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE openers SET seen_ms = greatest(seen_ms, p_now), accepted = accepted + p_accepted, queued = queued + p_queued,
    retrying = retrying + p_retrying, leased = leased + p_leased, done = done + p_done, failed = failed + p_failed,
    skipped = skipped + p_skipped, suspects = suspects + p_suspects
  WHERE id = f.opener;
  IF NOT FOUND THEN
    -- It was taken for dead. Its holders are lost; what it counts now still counts.
    INSERT INTO openers (id, queue, seen_ms, accepted, queued, retrying, leased, done, failed, skipped, suspects)
      OVERRIDING SYSTEM VALUE
      VALUES (f.opener, f.queue, p_now, p_accepted, p_queued, p_retrying, p_leased, p_done, p_failed, p_skipped, p_suspects);
  END IF;
END $$;
