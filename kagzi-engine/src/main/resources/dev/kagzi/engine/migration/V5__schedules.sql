-- Schedules. A template is a row among the runs whose cron_expr is set; its available_at is when it
-- fires next. All columns and indexes are empty for ordinary runs, which cost what they did.

ALTER TABLE kagzi.workflow_runs
  ADD COLUMN schedule_name text,
  -- The fired run starts up to so much later than its slot, always by the same part of it.
  ADD COLUMN jitter_ms     bigint,
  -- The slot that waits for the end of the run before it (BUFFER_ONE).
  ADD COLUMN buffered_at   timestamptz,
  ADD COLUMN last_fired_at timestamptz,
  ADD COLUMN total_runs    bigint,
  -- Slots that made no run: more than are caught up with, or held back by the overlap policy.
  ADD COLUMN missed_runs   bigint,
  ADD COLUMN updated_at    timestamptz;

CREATE UNIQUE INDEX workflow_runs_schedule_name
  ON kagzi.workflow_runs (namespace, schedule_name) WHERE cron_expr IS NOT NULL;
CREATE INDEX workflow_runs_schedules
  ON kagzi.workflow_runs (namespace, created_at, run_id) WHERE cron_expr IS NOT NULL;
CREATE INDEX workflow_runs_schedules_due
  ON kagzi.workflow_runs (available_at) WHERE cron_expr IS NOT NULL AND status = 'SCHEDULED';
CREATE INDEX workflow_runs_buffered
  ON kagzi.workflow_runs (run_id) WHERE cron_expr IS NOT NULL AND buffered_at IS NOT NULL;
-- Runs of schedules that have not ended: what overlap policies ask for.
CREATE INDEX workflow_runs_schedule_open
  ON kagzi.workflow_runs (schedule_id) WHERE schedule_id IS NOT NULL AND available_at IS NOT NULL;
CREATE INDEX workflow_runs_schedule_runs
  ON kagzi.workflow_runs (schedule_id, created_at, run_id) WHERE schedule_id IS NOT NULL;

-- How runs of schedules ended, written by the transaction that ends them: nobody waits for a
-- counter. A chore folds the rows into the counts.
CREATE TABLE kagzi.schedule_changes (
  schedule_id uuid NOT NULL,
  completed   integer NOT NULL,
  failed      integer NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE kagzi.schedule_counts (
  schedule_id uuid PRIMARY KEY,
  completed   bigint NOT NULL,
  failed      bigint NOT NULL
) WITH (fillfactor = 50);
