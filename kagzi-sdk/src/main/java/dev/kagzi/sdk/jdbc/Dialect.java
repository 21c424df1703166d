package dev.kagzi.sdk.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;

/** The databases in which Kagzi's tables for applications can be. */
public enum Dialect {
  /** PostgreSQL 14 and newer. */
  POSTGRESQL(
      "PostgreSQL",
      """
      CREATE TABLE IF NOT EXISTS kagzi_steps (
        namespace  varchar(200) NOT NULL,
        run_id     uuid         NOT NULL,
        step_key   varchar(500) NOT NULL,
        epoch      integer      NOT NULL,
        output     bytea,
        created_at timestamptz  NOT NULL DEFAULT CURRENT_TIMESTAMP,
        PRIMARY KEY (run_id, step_key)
      )\
      """,
      """
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
      CREATE INDEX IF NOT EXISTS kagzi_outbox_order ON kagzi_outbox (namespace, order_key, id)\
      """),

  /** MySQL 8.0.17 and newer. */
  MYSQL(
      "MySQL",
      """
      CREATE TABLE IF NOT EXISTS kagzi_steps (
        namespace  varchar(200) NOT NULL,
        run_id     char(36)     CHARACTER SET ascii NOT NULL,
        step_key   varchar(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
        epoch      integer      NOT NULL,
        output     longblob,
        created_at timestamp    NOT NULL DEFAULT CURRENT_TIMESTAMP,
        PRIMARY KEY (run_id, step_key)
      ) ENGINE=InnoDB\
      """,
      """
      CREATE TABLE IF NOT EXISTS kagzi_outbox (
        id         bigint       AUTO_INCREMENT PRIMARY KEY,
        namespace  varchar(200) NOT NULL,
        order_key  varchar(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin NOT NULL,
        run_id     char(36)     CHARACTER SET ascii NOT NULL,
        kind       varchar(20)  NOT NULL,
        message    longblob     NOT NULL,
        created_at timestamp    NOT NULL DEFAULT CURRENT_TIMESTAMP,
        refused_at timestamp    NULL,
        refusal    varchar(2000),
        INDEX kagzi_outbox_order (namespace, order_key, id)
      ) ENGINE=InnoDB\
      """),

  /** H2, version 2. */
  H2(
      "H2",
      """
      CREATE TABLE IF NOT EXISTS kagzi_steps (
        namespace  varchar(200) NOT NULL,
        run_id     uuid         NOT NULL,
        step_key   varchar(500) NOT NULL,
        epoch      integer      NOT NULL,
        output     blob,
        created_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
        PRIMARY KEY (run_id, step_key)
      )\
      """,
      """
      CREATE TABLE IF NOT EXISTS kagzi_outbox (
        id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        namespace  varchar(200) NOT NULL,
        order_key  varchar(500) NOT NULL,
        run_id     uuid         NOT NULL,
        kind       varchar(20)  NOT NULL,
        message    blob         NOT NULL,
        created_at timestamp with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
        refused_at timestamp with time zone,
        refusal    varchar(2000)
      );
      CREATE INDEX IF NOT EXISTS kagzi_outbox_order ON kagzi_outbox (namespace, order_key, id)\
      """);

  private final String product;
  private final String stepTable;
  private final String outboxTable;

  Dialect(String product, String stepTable, String outboxTable) {
    this.product = product;
    this.stepTable = stepTable;
    this.outboxTable = outboxTable;
  }

  /** Returns the statement that creates the table of transactional steps, without a semicolon. */
  public String stepTable() {
    return stepTable;
  }

  /**
   * Returns the statements that create the outbox, with semicolons between them and none at the
   * end.
   */
  public String outboxTable() {
    return outboxTable;
  }

  /**
   * Returns the dialect of a connection's database.
   *
   * @throws IllegalArgumentException if it is none of these databases
   */
  public static Dialect of(Connection connection) throws SQLException {
    String found = connection.getMetaData().getDatabaseProductName();
    return Arrays.stream(values())
        .filter(each -> found.equalsIgnoreCase(each.product))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "database: %s (expected: PostgreSQL, MySQL or H2)".formatted(found)));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
