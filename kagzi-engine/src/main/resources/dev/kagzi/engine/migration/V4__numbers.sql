-- Numbers that cost the same whatever the tables hold, and what retention needs.

-- How many runs changed from one status to another, written by the statement that changes them. A
-- null is a run that was not there before, or is no longer. Insert only and without an index: what
-- changes runs must not wait for a counter that others change too. A chore folds the rows into the
-- counts.
CREATE TABLE kagzi.run_changes (
  namespace     text NOT NULL,
  task_queue    text NOT NULL,
  workflow_type text NOT NULL,
  version       text NOT NULL,
  was           text,
  became        text,
  runs          integer NOT NULL
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000, autovacuum_vacuum_cost_limit = 2000
);

-- By type before queue: types are listed.
CREATE TABLE kagzi.run_counts (
  namespace     text NOT NULL,
  workflow_type text NOT NULL,
  task_queue    text NOT NULL,
  version       text NOT NULL,
  status        text NOT NULL,
  runs          bigint NOT NULL,
  PRIMARY KEY (namespace, workflow_type, task_queue, version, status)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 500);

INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
SELECT namespace, workflow_type, task_queue, version, status, count(*)
  FROM kagzi.workflow_runs
 WHERE cron_expr IS NULL
 GROUP BY namespace, workflow_type, task_queue, version, status;

-- Servers from before this migration change runs and count nothing. Once the last of them is gone
-- the runs are counted anew; until then that is owed.
ALTER TABLE kagzi.servers ADD COLUMN counts boolean NOT NULL DEFAULT false;

CREATE TABLE kagzi.duties (duty text PRIMARY KEY);
INSERT INTO kagzi.duties (duty)
SELECT 'RECOUNT' WHERE EXISTS (SELECT FROM kagzi.servers);

-- How long runs are kept after their end; null: as long as the server says, 0: for ever.
ALTER TABLE kagzi.namespaces ADD COLUMN retention_ms bigint CHECK (retention_ms >= 0);

-- Runs that came to a bad end are few and looked for. An ordinary run is never in this index.
CREATE INDEX workflow_runs_unhappy
  ON kagzi.workflow_runs (namespace, status, created_at, run_id)
  WHERE status IN ('FAILED', 'CANCELLED', 'TIMED_OUT');

-- Templates of schedules, which are no runs.
CREATE INDEX workflow_runs_templates
  ON kagzi.workflow_runs (namespace, status) WHERE cron_expr IS NOT NULL;
