-- Signals that an application writes in its own transaction, in this database. A server sends each
-- committed row to its run and deletes the row. A row that it refuses stays, with the reason.
-- As in start_requests, nothing but the number is unique: a transaction that stays open after its
-- insert makes no other statement wait.
CREATE TABLE kagzi.signal_requests (
  -- Signals of one run are sent in this order.
  request_no   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id       uuid NOT NULL,
  namespace    text NOT NULL,
  name         text NOT NULL,
  -- Empty: the server derives it from request_no.
  signal_id    text NOT NULL,
  data         bytea NOT NULL,
  metadata     jsonb,
  requested_at timestamptz NOT NULL,
  refused_at   timestamptz,
  refusal_code text,
  refusal      text
) WITH (
  -- Rows live for milliseconds, so dead rows appear at the rate of signals.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
);

CREATE INDEX signal_requests_open ON kagzi.signal_requests (request_no) WHERE refused_at IS NULL;
CREATE INDEX signal_requests_run ON kagzi.signal_requests (run_id, request_no)
  WHERE refused_at IS NULL;
CREATE INDEX signal_requests_refused ON kagzi.signal_requests (refused_at)
  WHERE refused_at IS NOT NULL;

-- Requests a signal in the caller's transaction; returns the id that the signal will have.
-- Version 1: later versions only add parameters with defaults at the end.
CREATE FUNCTION kagzi.signal_workflow(
  run_id           uuid,
  name             text,
  payload          jsonb DEFAULT NULL,
  namespace        text DEFAULT 'default',
  signal_id        text DEFAULT '',
  -- The encoded payload and its metadata, instead of payload.
  payload_data     bytea DEFAULT NULL,
  payload_metadata jsonb DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  id text := coalesce(signal_workflow.signal_id, '');
  no bigint;
BEGIN
  IF payload IS NOT NULL AND payload_data IS NOT NULL THEN
    RAISE EXCEPTION 'payload: set together with payload_data (expected: one of them)'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  INSERT INTO kagzi.signal_requests AS r
         (run_id, namespace, name, signal_id, data, metadata, requested_at)
  VALUES (signal_workflow.run_id, coalesce(signal_workflow.namespace, 'default'),
          signal_workflow.name, id,
          coalesce(payload_data, convert_to(coalesce(payload::text, 'null'), 'UTF8')),
          payload_metadata, kagzi.clock())
  RETURNING r.request_no INTO no;
  RETURN CASE WHEN id = '' THEN 'request-' || no ELSE id END;
END
$$;

-- Applications get the right to call it by a GRANT to their role.
REVOKE ALL ON FUNCTION
  kagzi.signal_workflow(uuid, text, jsonb, text, text, bytea, jsonb) FROM PUBLIC;
