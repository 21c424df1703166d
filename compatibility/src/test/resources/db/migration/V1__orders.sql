CREATE TABLE orders (item text);
