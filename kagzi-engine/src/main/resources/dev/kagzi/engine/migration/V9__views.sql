-- What lists and health show: blocked runs, workers that died, deadlines as they were asked for.

ALTER TABLE kagzi.workflow_runs
  -- How much time a start's deadline left the run; null without a deadline. execution_timeout_ms is
  -- what the start asked for; in runs that started before this column it may stand for a deadline.
  ADD COLUMN deadline_after_ms bigint;

-- Few runs are blocked, and they are listed among any number of others.
CREATE INDEX workflow_runs_blocked
  ON kagzi.workflow_runs (namespace, created_at, run_id) WHERE blocked_by IS NOT NULL;

ALTER TABLE kagzi.workers
  -- It did not leave by itself: it went silent, its connection broke, or it was forced offline.
  ADD COLUMN died boolean;
CREATE INDEX workers_died ON kagzi.workers (namespace, task_queue) WHERE died;
