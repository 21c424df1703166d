-- Answers of calls that change something outside of the journal, by the id that the caller chose: a
-- call that is sent again changes nothing more. Rows are purged after a day.
CREATE TABLE kagzi.requests (
  request_id uuid PRIMARY KEY,
  -- Method and target: an id that is used for two calls is refused.
  call       text NOT NULL,
  answer     text,
  created_at timestamptz NOT NULL
);

CREATE INDEX requests_created ON kagzi.requests (created_at);
