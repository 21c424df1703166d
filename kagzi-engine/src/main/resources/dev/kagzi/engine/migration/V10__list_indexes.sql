-- Finds the retries of a run. Few runs are retries, so other runs are not in the index.
CREATE INDEX workflow_runs_retries ON kagzi.workflow_runs (retry_of) WHERE retry_of IS NOT NULL;

-- Finds the ended runs of a type, queue or version that has few. A number costs each run less than
-- four texts; readers compare the texts, too.
CREATE INDEX workflow_runs_kind
  ON kagzi.workflow_runs
     (hashtext(namespace || ' ' || workflow_type || ' ' || task_queue || ' ' || version))
  WHERE available_at IS NULL;
