-- All tables of Kagzi. This file is frozen with release 0.1.0: a later change is a new migration.
--
-- Tables have no foreign keys: the engine is the only writer, and each table belongs to one package
-- of it. Statuses and kinds of runs and steps have no CHECK with a list of values: PostgreSQL parses
-- it for every statement that writes, which cost a sixth of the database's time for a run.

-- The only clock. The planner inlines it, so it costs nothing; tests replace it to move the time.
CREATE FUNCTION kagzi.clock() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()';

-- Converts microseconds since 1970, in which the engine passes times. Null stays null; the largest
-- bigint is infinity. It computes in UTC: the sum of a timestamptz and an interval is not immutable.
CREATE FUNCTION kagzi.at(us bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN us = 9223372036854775807 THEN 'infinity'::timestamptz
               ELSE (timestamp 'epoch' + us * interval '1 microsecond') AT TIME ZONE 'UTC' END $$;

-- Returns whether a step that began after another one failed proves that the workflow code handled
-- the failure. It does not if the two steps are in different branches of one group, because branches
-- run independently. All parts of a step key but the last are branches, such as pack[0].
CREATE FUNCTION kagzi.failure_was_handled(failed text, later text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    (SELECT NOT (p.i < array_length(string_to_array(failed, '/'), 1)
                 AND p.i < array_length(string_to_array(later, '/'), 1)
                 AND split_part(p.f, '[', 1) = split_part(p.l, '[', 1))
       FROM unnest(string_to_array(failed, '/'), string_to_array(later, '/'))
              WITH ORDINALITY AS p (f, l, i)
      WHERE p.f IS DISTINCT FROM p.l
      ORDER BY p.i
      LIMIT 1), true)
$$;


-- Namespaces and workflow types ------------------------------------------------------------------

CREATE TABLE kagzi.namespaces (
  namespace                  text PRIMARY KEY,
  id                         uuid NOT NULL UNIQUE,
  display_name               text NOT NULL DEFAULT '',
  description                text NOT NULL DEFAULT '',
  enabled                    boolean NOT NULL DEFAULT true,
  -- How long runs are kept after their end. Null: the server's default; 0: for ever.
  retention_ms               bigint CHECK (retention_ms >= 0),
  -- The queue of the latest registered handler of all failures. Null: none was registered.
  failure_handler_task_queue text,
  created_at                 timestamptz NOT NULL DEFAULT kagzi.clock(),
  updated_at                 timestamptz NOT NULL DEFAULT kagzi.clock()
);

INSERT INTO kagzi.namespaces (namespace, id, display_name)
VALUES ('default', '00000000-0000-7000-8000-000000000001', 'Default');

-- The version of runs that are started without a version. A type without a row has the default ''.
CREATE TABLE kagzi.workflow_types (
  namespace       text NOT NULL,
  workflow_type   text NOT NULL,
  default_version text NOT NULL,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (namespace, workflow_type)
);


-- Runs -------------------------------------------------------------------------------------------

-- Runs and the templates of schedules. A row is a template if its cron_expr is set.
CREATE TABLE kagzi.workflow_runs (
  run_id                uuid PRIMARY KEY,
  namespace             text NOT NULL,
  external_id           text,
  -- Zero while the run is active, its own id after its end. The unique index on it allows one active
  -- run per external_id, and finds ended ones too.
  ended                 uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  task_queue            text NOT NULL,
  workflow_type         text NOT NULL,
  version               text NOT NULL DEFAULT '',
  -- PENDING, RUNNING, SLEEPING, COMPLETED, FAILED, CANCELLED, TIMED_OUT; a template is SCHEDULED or
  -- PAUSED.
  status                text NOT NULL,
  -- CLIENT, SCHEDULE, CHILD, FAILURE_HANDLER, RETRY.
  origin                text NOT NULL DEFAULT 'CLIENT',
  created_at            timestamptz NOT NULL,
  started_at            timestamptz,
  finished_at           timestamptz,

  -- The fence: increases with every claim.
  epoch                 integer NOT NULL DEFAULT 0,
  -- The last claim that its holder ended, by any report, or whose holder had no task.
  ended_epoch           integer NOT NULL DEFAULT 0,
  -- The epoch before the first claim since the run was last PENDING or SLEEPING. The present claim is
  -- the only one since then if it is the next epoch.
  free_epoch            integer,
  -- The last claim whose worker sent a call about the run, which proves that its task arrived.
  acknowledged_epoch    integer,
  -- The first claim that was taken from its worker. From then on several workers may believe that they
  -- hold the run.
  lost_epoch            integer,
  -- The worker whose claim was taken, while the run waits for its next claim; else null. A simple client
  -- may still end the run then. Null after a hung step.
  taken_from            uuid,
  -- The epoch of the claim that was taken, while the run waits for its next claim; else null. It is lower
  -- than epoch if a claim query set the run aside.
  taken_epoch           integer,
  locked_by             uuid,
  claimed_at            timestamptz,
  -- When the run may be claimed: start, wake-up, retry or end of the lease. 'infinity': the run waits
  -- for something else than time. Null: it has ended.
  available_at          timestamptz,
  -- The steps whose messages wake a parked run: all of them, or any.
  waits_for             text[],
  waits_for_all         boolean NOT NULL DEFAULT false,

  attempts              integer NOT NULL DEFAULT 1,
  crashes               integer NOT NULL DEFAULT 0,
  retry_policy          jsonb,
  error                 jsonb,
  -- Why the run cannot continue with the code of its workers.
  blocked_by            jsonb,

  -- What the start asked for. Kept to compute deadline_at again for a retry or a resume.
  execution_timeout_ms  bigint,
  -- Time from the start to the earlier of deadline and timeout. Null without a deadline, or if it had passed.
  deadline_after_ms     bigint,
  deadline_at           timestamptz,
  step_timeout_ms       bigint,
  -- The run's own lease.
  heartbeat_timeout_ms  bigint,

  on_failure_workflow   text,
  on_failure_task_queue text,
  -- The run whose failure this run handles.
  failed_run_id         uuid,
  -- The run that this run repeats.
  retry_of              uuid,
  parent_run_id         uuid,
  parent_step_id        text,
  -- True for a child that is independent: its end sends no message, and a cancel of its parent does
  -- not reach it.
  detached              boolean,

  -- Of a fired run: its template. Of a run or a template: its slot.
  schedule_id           uuid,
  fire_at               timestamptz,

  -- The columns below are of templates only.
  schedule_name         text,
  cron_expr             text,
  time_zone             text,
  overlap_policy        text,
  max_catchup           integer,
  -- A fired run starts up to this much after its slot, always with the same delay.
  jitter_ms             bigint,
  -- The slot that waits for the end of the run before it (BUFFER_ONE).
  buffered_at           timestamptz,
  last_fired_at         timestamptz,
  total_runs            bigint,
  -- Slots without a run: beyond max_catchup, or skipped by the overlap policy.
  missed_runs           bigint,
  updated_at            timestamptz,

  -- An open run without available_at would never be claimed again.
  CONSTRAINT available_unless_ended
    CHECK (available_at IS NOT NULL OR finished_at IS NOT NULL OR cron_expr IS NOT NULL)
) WITH (
  -- Updates change indexed columns and so are not HOT: dead rows appear at the rate of work.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.1, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_limit = 2000
);

-- Dispatch. The predicate has available_at instead of status, so that the planner does not choose
-- this index for an update that compares the status.
CREATE INDEX workflow_runs_claim
  ON kagzi.workflow_runs (namespace, task_queue, workflow_type, version, available_at)
  WHERE available_at IS NOT NULL AND cron_expr IS NULL;
CREATE INDEX workflow_runs_own_lease ON kagzi.workflow_runs (locked_by)
  WHERE heartbeat_timeout_ms IS NOT NULL AND available_at IS NOT NULL AND cron_expr IS NULL;
CREATE INDEX workflow_runs_deadline ON kagzi.workflow_runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND available_at IS NOT NULL AND cron_expr IS NULL;

-- Related runs.
CREATE UNIQUE INDEX workflow_runs_external_id
  ON kagzi.workflow_runs (namespace, external_id, ended) WHERE external_id IS NOT NULL;
CREATE INDEX workflow_runs_parent
  ON kagzi.workflow_runs (parent_run_id) WHERE parent_run_id IS NOT NULL;
CREATE INDEX workflow_runs_handler
  ON kagzi.workflow_runs (failed_run_id) WHERE failed_run_id IS NOT NULL;

-- Lists. Unsuccessful and blocked runs are few among many others; other runs are not in their
-- indexes and do not pay for them.
CREATE INDEX workflow_runs_list ON kagzi.workflow_runs (namespace, created_at, run_id);
CREATE INDEX workflow_runs_unsuccessful
  ON kagzi.workflow_runs (namespace, status, created_at, run_id)
  WHERE status IN ('FAILED', 'CANCELLED', 'TIMED_OUT');
CREATE INDEX workflow_runs_blocked
  ON kagzi.workflow_runs (namespace, created_at, run_id) WHERE blocked_by IS NOT NULL;

-- Templates.
CREATE INDEX workflow_runs_templates
  ON kagzi.workflow_runs (namespace, status) WHERE cron_expr IS NOT NULL;
CREATE UNIQUE INDEX workflow_runs_schedule_name
  ON kagzi.workflow_runs (namespace, schedule_name) WHERE cron_expr IS NOT NULL;
CREATE INDEX workflow_runs_schedules
  ON kagzi.workflow_runs (namespace, created_at, run_id) WHERE cron_expr IS NOT NULL;
CREATE INDEX workflow_runs_schedules_due
  ON kagzi.workflow_runs (available_at) WHERE cron_expr IS NOT NULL AND status = 'SCHEDULED';
CREATE INDEX workflow_runs_buffered
  ON kagzi.workflow_runs (run_id) WHERE cron_expr IS NOT NULL AND buffered_at IS NOT NULL;

-- Runs of schedules: one per slot; those that have not ended, for the overlap policies; lists.
CREATE UNIQUE INDEX workflow_runs_fire
  ON kagzi.workflow_runs (schedule_id, fire_at) WHERE schedule_id IS NOT NULL;
CREATE INDEX workflow_runs_schedule_open
  ON kagzi.workflow_runs (schedule_id) WHERE schedule_id IS NOT NULL AND available_at IS NOT NULL;
CREATE INDEX workflow_runs_schedule_runs
  ON kagzi.workflow_runs (schedule_id, created_at, run_id) WHERE schedule_id IS NOT NULL;

-- Insert only. Input and output are separate rows, so that the end of a run does not copy its input.
CREATE TABLE kagzi.workflow_payloads (
  run_id     uuid NOT NULL,
  -- INPUT or OUTPUT.
  kind       text NOT NULL,
  data       bytea NOT NULL,
  metadata   jsonb,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (run_id, kind)
);


-- Steps ------------------------------------------------------------------------------------------

-- One row per attempt of a step.
CREATE TABLE kagzi.step_runs (
  run_id            uuid NOT NULL,
  step_id           text NOT NULL,
  attempt           integer NOT NULL,
  -- The name of the step, if it does not follow from step_id: a simple client may call a step
  -- "pay#2" or "a[0]/b", which elsewhere mean the second step "pay" and the step "b" of a branch.
  name              text,
  epoch             integer NOT NULL,
  run_attempt       integer NOT NULL,
  -- FUNCTION, SLEEP, CHILD_WORKFLOW.
  kind              text NOT NULL,
  -- PENDING, RUNNING, COMPLETED, FAILED.
  status            text NOT NULL,
  -- A failure that the workflow code received: no further attempt within this attempt of the run.
  final             boolean NOT NULL DEFAULT false,
  input             bytea,
  input_metadata    jsonb,
  input_hash        text,
  output            bytea,
  output_metadata   jsonb,
  -- The progress that the code of the attempt reported. The next attempt may continue from there.
  progress          bytea,
  progress_metadata jsonb,
  error             jsonb,
  retry_policy      jsonb,
  -- When the next attempt may run (FAILED), or when a sleep ends (SLEEP).
  due_at            timestamptz,
  timeout_at        timestamptz,
  child_run_id      uuid,
  created_at        timestamptz NOT NULL,
  started_at        timestamptz,
  finished_at       timestamptz,
  PRIMARY KEY (run_id, step_id, attempt)
) WITH (
  autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1,
  autovacuum_vacuum_cost_limit = 2000
);

-- Only a step whose begin was reported has a timeout_at, so short steps are never in this index.
CREATE INDEX step_runs_timeout ON kagzi.step_runs (timeout_at)
  WHERE timeout_at IS NOT NULL AND status = 'RUNNING';


-- Messages between runs --------------------------------------------------------------------------

-- The only way in which one run affects another. The lane of the receiver consumes them.
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


-- Numbers of runs --------------------------------------------------------------------------------

-- How many runs changed from one status to another. The statement that changes the runs inserts the
-- row. A null from_status is a new run, a null to_status a deleted one. Insert only and without an
-- index, so that no writer waits for a counter that others update; a chore folds the rows into
-- run_counts. The statement of the chore deletes the folded rows by id.
CREATE TABLE kagzi.run_changes (
  change_id     bigint GENERATED ALWAYS AS IDENTITY (CACHE 100),
  namespace     text NOT NULL,
  task_queue    text NOT NULL,
  workflow_type text NOT NULL,
  version       text NOT NULL,
  from_status   text,
  to_status     text,
  runs          integer NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_limit = 2000
);

-- The type is before the queue in the key, because types are listed.
CREATE TABLE kagzi.run_counts (
  namespace     text NOT NULL,
  workflow_type text NOT NULL,
  task_queue    text NOT NULL,
  version       text NOT NULL,
  status        text NOT NULL,
  runs          bigint NOT NULL,
  PRIMARY KEY (namespace, workflow_type, task_queue, version, status)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500);

-- How runs of schedules ended. The transaction that ends the run inserts the row; a chore folds the
-- rows into schedule_counts.
CREATE TABLE kagzi.schedule_changes (
  change_id   bigint GENERATED ALWAYS AS IDENTITY (CACHE 100),
  schedule_id uuid NOT NULL,
  completed   integer NOT NULL,
  failed      integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE kagzi.schedule_counts (
  schedule_id uuid PRIMARY KEY,
  completed   bigint NOT NULL,
  failed      bigint NOT NULL
) WITH (fillfactor = 50);


-- Workers ----------------------------------------------------------------------------------------

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
  -- The open Attach stream. If it breaks, the worker is OFFLINE after a grace period.
  attach_id         uuid,
  active_count      integer NOT NULL DEFAULT 0,
  -- True if the worker sends its active_count. For other workers the runs that they hold are counted.
  sends_count       boolean,
  total_completed   bigint NOT NULL DEFAULT 0,
  total_failed      bigint NOT NULL DEFAULT 0,
  registered_at     timestamptz NOT NULL,
  last_heartbeat_at timestamptz NOT NULL,
  deregistered_at   timestamptz,
  -- True if the worker did not deregister: its heartbeats stopped, its connection broke, or it was
  -- forced offline.
  died              boolean
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500);

CREATE UNIQUE INDEX workers_active_instance
  ON kagzi.workers (namespace, task_queue, hostname, pid, instance_id)
  WHERE status <> 'OFFLINE' AND instance_id <> '';
CREATE INDEX workers_heartbeat ON kagzi.workers (last_heartbeat_at) WHERE status <> 'OFFLINE';
CREATE INDEX workers_queue ON kagzi.workers (namespace, task_queue, registered_at, worker_id);
CREATE INDEX workers_died ON kagzi.workers (namespace, task_queue) WHERE died;

CREATE TABLE kagzi.worker_events (
  event_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  worker_id uuid NOT NULL,
  event     text NOT NULL,
  reason    text NOT NULL,
  at        timestamptz NOT NULL
);

CREATE INDEX worker_events_worker ON kagzi.worker_events (worker_id, event_id);


-- Servers ----------------------------------------------------------------------------------------

CREATE TABLE kagzi.servers (
  server_id    uuid PRIMARY KEY,
  hostname     text NOT NULL,
  started_at   timestamptz NOT NULL,
  heartbeat_at timestamptz NOT NULL
);

-- Work that a committed transaction left to the servers. The server that completes a task deletes
-- its row. 'STEPS <run id>': the run was purged, its remaining steps are still to be deleted.
CREATE TABLE kagzi.maintenance_tasks (
  task text PRIMARY KEY
);

-- Answers of calls that the journal does not write, by the id that the caller chose: a call that is
-- sent again has no second effect. Rows are purged after a day.
CREATE TABLE kagzi.requests (
  request_id uuid PRIMARY KEY,
  -- Method and target. An id that is used for two different calls is refused.
  call       text NOT NULL,
  answer     text,
  created_at timestamptz NOT NULL
);

CREATE INDEX requests_created ON kagzi.requests (created_at);
