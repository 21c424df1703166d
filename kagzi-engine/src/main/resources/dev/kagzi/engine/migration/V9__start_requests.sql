-- Starts that an application writes in its own transaction, in this database. A server turns each
-- committed row into a run and deletes the row. A row that it refuses stays, with the reason.
-- The table has no reference to another one, and nothing but its own key is unique: a transaction
-- that stays open after its insert makes no other statement wait.
CREATE TABLE kagzi.start_requests (
  run_id                uuid PRIMARY KEY,
  namespace             text NOT NULL,
  external_id           text NOT NULL,
  task_queue            text NOT NULL,
  workflow_type         text NOT NULL,
  version               text NOT NULL,
  data                  bytea NOT NULL,
  metadata              jsonb,
  headers               jsonb,
  retry_policy          jsonb,
  execution_timeout_ms  bigint,
  deadline              timestamptz,
  step_timeout_ms       bigint,
  heartbeat_timeout_ms  bigint,
  on_failure_workflow   text NOT NULL,
  on_failure_task_queue text NOT NULL,
  -- USE_EXISTING, REJECT, USE_EXISTING_ANY.
  if_exists             text NOT NULL,
  requested_at          timestamptz NOT NULL,
  -- Set if the start was refused, or found a run with its external id.
  refused_at            timestamptz,
  refusal_code          text,
  refusal               text
) WITH (
  -- Rows live for milliseconds, so dead rows appear at the rate of starts.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000
);

CREATE INDEX start_requests_open ON kagzi.start_requests (requested_at) WHERE refused_at IS NULL;
CREATE INDEX start_requests_refused ON kagzi.start_requests (refused_at)
  WHERE refused_at IS NOT NULL;

-- Requests a start in the caller's transaction; returns the id that the run will have. Version 1:
-- later versions only add parameters with defaults at the end, and keys of options.
CREATE FUNCTION kagzi.start_workflow(
  workflow_type  text,
  task_queue     text,
  input          jsonb DEFAULT NULL,
  external_id    text DEFAULT '',
  namespace      text DEFAULT 'default',
  options        jsonb DEFAULT '{}',
  -- The encoded input and its metadata, instead of input.
  input_data     bytea DEFAULT NULL,
  input_metadata jsonb DEFAULT NULL,
  run_id         uuid DEFAULT NULL)
RETURNS uuid
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  unknown text;
  id uuid := start_workflow.run_id;
BEGIN
  external_id := coalesce(external_id, '');
  namespace := coalesce(namespace, 'default');
  options := coalesce(options, '{}');
  SELECT string_agg(key, ', ') INTO unknown
    FROM jsonb_object_keys(options) AS key
   WHERE key NOT IN ('version', 'headers', 'retry_policy', 'execution_timeout_ms', 'deadline',
                     'step_timeout_ms', 'heartbeat_timeout_ms', 'on_failure_workflow',
                     'on_failure_task_queue', 'if_exists');
  IF unknown IS NOT NULL THEN
    RAISE EXCEPTION 'options: % (expected: version, headers, retry_policy, execution_timeout_ms, deadline, step_timeout_ms, heartbeat_timeout_ms, on_failure_workflow, on_failure_task_queue, if_exists)', unknown
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF coalesce(options->>'if_exists', 'USE_EXISTING')
     NOT IN ('USE_EXISTING', 'REJECT', 'USE_EXISTING_ANY') THEN
    RAISE EXCEPTION 'options: if_exists is % (expected: USE_EXISTING, REJECT or USE_EXISTING_ANY)',
      options->>'if_exists' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF input IS NOT NULL AND input_data IS NOT NULL THEN
    RAISE EXCEPTION 'input: set together with input_data (expected: one of them)'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF id IS NULL THEN
    -- A UUID of version 7 whose last 16 bits are the shard of the external id.
    id := (lpad(to_hex((extract(epoch FROM kagzi.clock()) * 1000)::bigint), 12, '0')
           || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14, 15)
           || CASE WHEN start_workflow.external_id = ''
                   THEN substr(replace(gen_random_uuid()::text, '-', ''), 29, 4)
                   ELSE substr(encode(sha256(convert_to(start_workflow.namespace, 'UTF8')
                                             || '\x00'::bytea
                                             || convert_to(start_workflow.external_id, 'UTF8')),
                                      'hex'), 1, 4)
              END)::uuid;
  END IF;
  INSERT INTO kagzi.start_requests
         (run_id, namespace, external_id, task_queue, workflow_type, version, data, metadata,
          headers, retry_policy, execution_timeout_ms, deadline, step_timeout_ms,
          heartbeat_timeout_ms, on_failure_workflow, on_failure_task_queue, if_exists,
          requested_at)
  VALUES (id, start_workflow.namespace, start_workflow.external_id, start_workflow.task_queue,
          start_workflow.workflow_type, coalesce(options->>'version', ''),
          coalesce(input_data, convert_to(coalesce(input::text, 'null'), 'UTF8')), input_metadata,
          options->'headers', options->'retry_policy',
          (options->>'execution_timeout_ms')::bigint, (options->>'deadline')::timestamptz,
          (options->>'step_timeout_ms')::bigint, (options->>'heartbeat_timeout_ms')::bigint,
          coalesce(options->>'on_failure_workflow', ''),
          coalesce(options->>'on_failure_task_queue', ''),
          coalesce(options->>'if_exists', 'USE_EXISTING'), kagzi.clock());
  RETURN id;
END
$$;

-- Applications get the right to call it by a GRANT to their role.
REVOKE ALL ON FUNCTION
  kagzi.start_workflow(text, text, jsonb, text, text, jsonb, bytea, jsonb, uuid) FROM PUBLIC;
