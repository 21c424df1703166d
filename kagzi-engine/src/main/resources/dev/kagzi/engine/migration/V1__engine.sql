-- The engine's tables. Times are the database's: kagzi.clock() is the only clock, so that tests can
-- move it. Its body is inlined by the planner and costs nothing.

CREATE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()';

-- Writers pass times as microseconds since 1970; null stays null, the largest number is infinity.
CREATE FUNCTION kagzi.at(us bigint) RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT CASE WHEN us = 9223372036854775807 THEN 'infinity'::timestamptz
               ELSE timestamptz 'epoch' + us * interval '1 microsecond' END $$;

CREATE TABLE kagzi.namespaces (
  namespace    text PRIMARY KEY,
  id           uuid NOT NULL UNIQUE,
  display_name text NOT NULL DEFAULT '',
  description  text NOT NULL DEFAULT '',
  enabled      boolean NOT NULL DEFAULT true,
  created_at   timestamptz NOT NULL DEFAULT kagzi.clock(),
  updated_at   timestamptz NOT NULL DEFAULT kagzi.clock()
);

INSERT INTO kagzi.namespaces (namespace, id, display_name)
VALUES ('default', '00000000-0000-7000-8000-000000000001', 'Default');

CREATE TABLE kagzi.workflow_runs (
  run_id                uuid PRIMARY KEY,
  namespace             text NOT NULL,
  external_id           text,
  -- Zero while the run is active, its own id once it has ended: makes external_id unique among the
  -- active and keeps the ended findable by the same index.
  ended                 uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  task_queue            text NOT NULL,
  workflow_type         text NOT NULL,
  version               text NOT NULL DEFAULT '',
  status                text NOT NULL
    CHECK (status IN ('PENDING', 'RUNNING', 'SLEEPING', 'COMPLETED', 'FAILED', 'CANCELLED',
                      'SCHEDULED', 'PAUSED', 'TIMED_OUT')),
  -- The fence: rises with every claim. ended_epoch is the last claim that gave the run back itself.
  epoch                 integer NOT NULL DEFAULT 0,
  ended_epoch           integer NOT NULL DEFAULT 0,
  locked_by             uuid,
  claimed_at            timestamptz,
  -- When the run may be claimed: start, wake-up, retry, end of the lease. 'infinity' waits for
  -- something else than time; null has ended.
  available_at          timestamptz,
  attempts              integer NOT NULL DEFAULT 1,
  crashes               integer NOT NULL DEFAULT 0,
  retry_policy          jsonb,
  error                 jsonb,
  blocked_by            jsonb,
  -- What a parked run waits for: the steps whose messages wake it, all of them or any.
  waits_for             text[],
  waits_for_all         boolean NOT NULL DEFAULT false,
  origin                text NOT NULL DEFAULT 'CLIENT'
    CHECK (origin IN ('CLIENT', 'SCHEDULE', 'CHILD', 'FAILURE_HANDLER', 'RETRY')),
  deadline_at           timestamptz,
  on_failure_workflow   text,
  on_failure_task_queue text,
  parent_run_id         uuid,
  parent_step_id        text,
  cron_expr             text,
  schedule_id           uuid,
  fire_at               timestamptz,
  time_zone             text,
  overlap_policy        text,
  max_catchup           integer,
  created_at            timestamptz NOT NULL,
  started_at            timestamptz,
  finished_at           timestamptz,
  CONSTRAINT available_unless_ended CHECK (
    (status IN ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'PAUSED')) OR available_at IS NOT NULL)
) WITH (
  -- None of the updates is HOT, so that dead rows come at the rate of work.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_limit = 2000
);

-- The predicate names available_at, not status: a fence on status must not lure the planner here.
CREATE INDEX workflow_runs_claim
  ON kagzi.workflow_runs (namespace, task_queue, workflow_type, version, available_at)
  WHERE available_at IS NOT NULL AND cron_expr IS NULL;
CREATE UNIQUE INDEX workflow_runs_external_id
  ON kagzi.workflow_runs (namespace, external_id, ended) WHERE external_id IS NOT NULL;
CREATE INDEX workflow_runs_list ON kagzi.workflow_runs (namespace, created_at, run_id);
CREATE INDEX workflow_runs_parent
  ON kagzi.workflow_runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE UNIQUE INDEX workflow_runs_fire
  ON kagzi.workflow_runs (schedule_id, fire_at) WHERE schedule_id IS NOT NULL;

-- Insert only: the output is a row of its own, so that ending a run does not copy its input.
CREATE TABLE kagzi.workflow_payloads (
  run_id   uuid NOT NULL,
  kind     text NOT NULL CHECK (kind IN ('INPUT', 'OUTPUT')),
  data     bytea NOT NULL,
  metadata jsonb,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, kind)
);

-- A row is one attempt of a step. No foreign key: the engine owns both tables.
CREATE TABLE kagzi.step_runs (
  run_id          uuid NOT NULL,
  step_id         text NOT NULL,
  attempt         integer NOT NULL,
  epoch           integer NOT NULL,
  run_attempt     integer NOT NULL,
  kind            text NOT NULL CHECK (kind IN ('FUNCTION', 'SLEEP', 'CHILD_WORKFLOW')),
  status          text NOT NULL CHECK (status IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED')),
  -- A failure that the workflow's code has seen: no further attempt within this attempt of the run.
  final           boolean NOT NULL DEFAULT false,
  input           bytea,
  input_metadata  jsonb,
  input_hash      text,
  output          bytea,
  output_metadata jsonb,
  error           jsonb,
  retry_policy    jsonb,
  -- When the next attempt may run (FAILED), or when a sleep is over (SLEEP).
  due_at          timestamptz,
  timeout_at      timestamptz,
  child_run_id    uuid,
  created_at      timestamptz NOT NULL,
  started_at      timestamptz,
  finished_at     timestamptz,
  PRIMARY KEY (run_id, step_id, attempt)
) WITH (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_vacuum_cost_limit = 2000
);

-- The only way by which one run affects another; consumed in the receiver's lane.
CREATE TABLE kagzi.run_messages (
  to_run     uuid NOT NULL,
  step_id    text NOT NULL,
  what       text NOT NULL,
  data       bytea,
  metadata   jsonb,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (to_run, step_id, what)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX run_messages_age ON kagzi.run_messages (created_at);

CREATE TABLE kagzi.workers (
  worker_id         uuid PRIMARY KEY,
  namespace         text NOT NULL,
  task_queue        text NOT NULL,
  workflow_types    text[] NOT NULL,
  -- The version served of each type, in the same order; '*' is any.
  served_versions   text[] NOT NULL,
  hostname          text NOT NULL DEFAULT '',
  pid               integer NOT NULL DEFAULT 0,
  instance_id       text NOT NULL DEFAULT '',
  version           text NOT NULL DEFAULT '',
  labels            jsonb,
  concurrency_limit integer,
  type_limits       jsonb,
  status            text NOT NULL CHECK (status IN ('ONLINE', 'DRAINING', 'OFFLINE')),
  -- The attached stream, if one is open; a broken one is taken out after a grace time.
  attach_id         uuid,
  active_count      integer NOT NULL DEFAULT 0,
  total_completed   bigint NOT NULL DEFAULT 0,
  total_failed      bigint NOT NULL DEFAULT 0,
  registered_at     timestamptz NOT NULL,
  last_heartbeat_at timestamptz NOT NULL,
  deregistered_at   timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500);
CREATE UNIQUE INDEX workers_active_instance
  ON kagzi.workers (namespace, task_queue, hostname, pid, instance_id)
  WHERE status <> 'OFFLINE' AND instance_id <> '';
CREATE INDEX workers_heartbeat ON kagzi.workers (last_heartbeat_at) WHERE status <> 'OFFLINE';
CREATE INDEX workers_queue ON kagzi.workers (namespace, task_queue, registered_at, worker_id);

CREATE TABLE kagzi.worker_events (
  event_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker_id uuid NOT NULL,
  event     text NOT NULL,
  reason    text NOT NULL,
  at        timestamptz NOT NULL
);
CREATE INDEX worker_events_worker ON kagzi.worker_events (worker_id, event_id);

CREATE TABLE kagzi.servers (
  server_id    uuid PRIMARY KEY,
  hostname     text NOT NULL,
  started_at   timestamptz NOT NULL,
  heartbeat_at timestamptz NOT NULL
);
