package dev.kagzi.engine.db;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;

/**
 * Where the database is.
 *
 * @param poolSize connections for reading; writers have sessions of their own
 * @param allowUnsafe accepts a server with fsync off; for tests only
 */
public record DatabaseConfig(
    String jdbcUrl, String user, String password, int poolSize, boolean allowUnsafe) {

  private static final int POOL_SIZE = 8;

  public DatabaseConfig {
    if (!jdbcUrl.startsWith("jdbc:postgresql:")) {
      throw new IllegalArgumentException(
          "database url: " + jdbcUrl + " (expected: jdbc:postgresql://… or postgres://…)");
    }
  }

  /** Durable, with the usual pool. */
  public DatabaseConfig(String jdbcUrl, String user, String password) {
    this(jdbcUrl, user, password, POOL_SIZE, false);
  }

  /** Takes {@code jdbc:postgresql://…} as it is, and {@code postgres://user:password@host/db}. */
  public static DatabaseConfig parse(String url, String user, String password) {
    if (!url.startsWith("postgres://") && !url.startsWith("postgresql://")) {
      return new DatabaseConfig(url, user, password);
    }
    URI uri = URI.create(url);
    String[] login =
        uri.getRawUserInfo() == null ? new String[0] : uri.getRawUserInfo().split(":", 2);
    String jdbc =
        "jdbc:postgresql://"
            + uri.getHost()
            + (uri.getPort() < 0 ? "" : ":" + uri.getPort())
            + uri.getRawPath()
            + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
    return new DatabaseConfig(
        jdbc,
        login.length > 0 ? decode(login[0]) : user,
        login.length > 1 ? decode(login[1]) : password);
  }

  /** The same place for tests on a server that may lose what it acknowledged. */
  public DatabaseConfig unsafe() {
    return new DatabaseConfig(jdbcUrl, user, password, poolSize, true);
  }

  private static String decode(String part) {
    return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return "DatabaseConfig[" + jdbcUrl + ", user " + user + "]";
  }
}
