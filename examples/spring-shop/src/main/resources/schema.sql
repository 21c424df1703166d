CREATE TABLE IF NOT EXISTS stock (item text PRIMARY KEY, pieces int NOT NULL CHECK (pieces >= 0));
INSERT INTO stock VALUES ('lamp', 100), ('piano', 3) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, item text NOT NULL, cents int NOT NULL, state text NOT NULL,
  run_id text, approved_by text);

-- A row for each change of the stock or of an account. No key prevents a second one: the steps are executed exactly once.
CREATE TABLE IF NOT EXISTS bookings (order_id text NOT NULL, what text NOT NULL);

-- From here on: kagzi sql steps --dialect postgresql; kagzi sql outbox --dialect postgresql
CREATE TABLE IF NOT EXISTS kagzi_steps (
  namespace  varchar(200) NOT NULL,
  run_id     uuid         NOT NULL,
  step_key   varchar(500) NOT NULL,
  epoch      integer      NOT NULL,
  output     bytea,
  created_at timestamptz  NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (run_id, step_key)
);
CREATE TABLE IF NOT EXISTS kagzi_outbox (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace  varchar(200) NOT NULL,
  order_key  varchar(500) NOT NULL,
  run_id     uuid         NOT NULL,
  kind       varchar(20)  NOT NULL,
  message    bytea        NOT NULL,
  created_at timestamptz  NOT NULL DEFAULT CURRENT_TIMESTAMP,
  refused_at timestamptz,
  refusal    varchar(2000)
);
CREATE INDEX IF NOT EXISTS kagzi_outbox_order ON kagzi_outbox (namespace, order_key, id);
