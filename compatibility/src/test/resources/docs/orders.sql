CREATE TABLE IF NOT EXISTS orders (id varchar(100) PRIMARY KEY, cents int NOT NULL);
CREATE TABLE IF NOT EXISTS bookings (order_id varchar(100) NOT NULL, cents int NOT NULL);
