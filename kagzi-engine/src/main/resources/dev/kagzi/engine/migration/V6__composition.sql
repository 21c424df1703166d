-- Children, progress of steps, default versions. All columns are null where nobody asks for it.

ALTER TABLE kagzi.workflow_runs
  -- It has a parent and goes its own way: its end is told to nobody, and a cancel leaves it alone.
  ADD COLUMN detached boolean;

ALTER TABLE kagzi.step_runs
  -- How far an attempt had come, as its code said: the next one may go on from there.
  ADD COLUMN progress          bytea,
  ADD COLUMN progress_metadata jsonb;

-- The version of runs that are started without one. A type without a row: the empty version.
CREATE TABLE kagzi.workflow_types (
  namespace       text NOT NULL,
  workflow_type   text NOT NULL,
  default_version text NOT NULL,
  updated_at      timestamptz NOT NULL,
  PRIMARY KEY (namespace, workflow_type)
);
