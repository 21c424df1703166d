-- Time-outs, failure handlers, retries and resumed runs. All columns are null for runs that ask for
-- none of it, and the indexes hold only runs that do: an ordinary run costs what it did.

ALTER TABLE kagzi.workflow_runs
  -- How long the run may take; deadline_at is what that came to. Kept to give it anew.
  ADD COLUMN execution_timeout_ms bigint,
  ADD COLUMN step_timeout_ms      bigint,
  -- The run's own lease.
  ADD COLUMN heartbeat_timeout_ms bigint,
  -- The run that this one repeats.
  ADD COLUMN retry_of             uuid,
  -- The run whose failure this one handles.
  ADD COLUMN failed_run_id        uuid;

CREATE INDEX workflow_runs_deadline ON kagzi.workflow_runs (deadline_at)
  WHERE deadline_at IS NOT NULL AND available_at IS NOT NULL AND cron_expr IS NULL;
CREATE INDEX workflow_runs_own_lease ON kagzi.workflow_runs (locked_by)
  WHERE heartbeat_timeout_ms IS NOT NULL AND available_at IS NOT NULL AND cron_expr IS NULL;
CREATE INDEX workflow_runs_handler ON kagzi.workflow_runs (failed_run_id)
  WHERE failed_run_id IS NOT NULL;

-- Only steps that were announced have a time-out: a short one is never in this index.
CREATE INDEX step_runs_timeout ON kagzi.step_runs (timeout_at)
  WHERE timeout_at IS NOT NULL AND status = 'RUNNING';

-- The queue on which the handler of all failures was registered last; null: it never was.
ALTER TABLE kagzi.namespaces ADD COLUMN failure_handler_task_queue text;
