-- Requests whose last try failed for a reason that passes, such as a full buffer of signals: they
-- are tried again at retry_at. Meanwhile refusal_code and refusal have the reason, and refused_at
-- is null.
ALTER TABLE kagzi.start_requests ADD COLUMN attempts integer NOT NULL DEFAULT 0;
ALTER TABLE kagzi.start_requests ADD COLUMN retry_at timestamptz;
ALTER TABLE kagzi.signal_requests ADD COLUMN attempts integer NOT NULL DEFAULT 0;
ALTER TABLE kagzi.signal_requests ADD COLUMN retry_at timestamptz;

-- Servers take requests of each namespace in turn: starts in the order in which they are due, and
-- the first signal of each run.
CREATE INDEX start_requests_due
  ON kagzi.start_requests (namespace, coalesce(retry_at, requested_at))
  WHERE refused_at IS NULL;
CREATE INDEX signal_requests_first ON kagzi.signal_requests (namespace, run_id, request_no)
  WHERE refused_at IS NULL;
