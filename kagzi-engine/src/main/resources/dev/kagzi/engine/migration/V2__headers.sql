-- The headers of the run's start, as one object of texts. Null: it has none.
ALTER TABLE kagzi.workflow_runs ADD COLUMN headers jsonb;
