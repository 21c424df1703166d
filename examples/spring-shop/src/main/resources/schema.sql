CREATE TABLE IF NOT EXISTS stock (item text PRIMARY KEY, pieces int NOT NULL CHECK (pieces >= 0));
INSERT INTO stock VALUES ('lamp', 100), ('piano', 3) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, item text NOT NULL, cents int NOT NULL, state text NOT NULL,
  approved boolean NOT NULL DEFAULT false);

-- A row for each call of a step, by its idempotency key: a repeated call changes nothing.
CREATE TABLE IF NOT EXISTS bookings (key text PRIMARY KEY, order_id text NOT NULL, what text NOT NULL);
