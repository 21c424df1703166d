package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.postgres.SharedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Databases of an application. */
public final class TestDatabases {
  private TestDatabases() {}

  /** Returns a new database in PostgreSQL. */
  public static PGSimpleDataSource postgres() {
    return postgres(SharedPostgres.server().jdbcUrl(SharedPostgres.createDatabase()));
  }

  /** Returns the database with this URL. */
  public static PGSimpleDataSource postgres(String url) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setUrl(url);
    dataSource.setUser(SharedPostgres.server().user());
    dataSource.setPassword(SharedPostgres.server().password());
    return dataSource;
  }

  /** Returns a new database in H2, in memory. */
  public static DataSource h2(String options) {
    JdbcDataSource dataSource = new JdbcDataSource();
    dataSource.setURL(
        "jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000%s"
            .formatted(UUID.randomUUID(), options));
    return dataSource;
  }

  /** Executes a statement and returns what it selects in its first row, or its count. */
  public static int execute(DataSource dataSource, String sql) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return statement.getUpdateCount();
      }
      try (ResultSet row = statement.getResultSet()) {
        return row.next() ? row.getInt(1) : 0;
      }
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
