package dev.kagzi.engine.db;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the database is.
 *
 * @param poolSize connections for reading; writers have sessions of their own
 * @param allowUnsafe accepts a server with fsync off; for tests only
 */
public record DatabaseConfig(
    String jdbcUrl, String user, String password, int poolSize, boolean allowUnsafe) {

  private static final int POOL_SIZE = 8;

  // What stands between the first colon of an authority and its last @, and what a query calls so.
  private static final Pattern LOGIN = Pattern.compile("(//[^:/@]*:).*@");
  private static final Pattern JDBC_LOGIN = Pattern.compile("jdbc:postgresql://[^/?]*@");
  private static final Pattern PARAMETER = Pattern.compile("(?i)([?&][^=&]*password=)[^&]*");

  public DatabaseConfig {
    if (!jdbcUrl.startsWith("jdbc:postgresql:")) {
      throw unfit(jdbcUrl, null);
    }
  }

  /** Durable, with the usual pool. */
  public DatabaseConfig(String jdbcUrl, String user, String password) {
    this(jdbcUrl, user, password, POOL_SIZE, false);
  }

  /**
   * Takes {@code jdbc:postgresql://…} as it is, and {@code postgres://user:password@host/db}; a
   * mixture of both, which the driver does not know and would repeat with its password, as meant.
   */
  public static DatabaseConfig parse(String url, String user, String password) {
    if (JDBC_LOGIN.matcher(url).lookingAt()) {
      return parse(url.substring("jdbc:".length()), user, password);
    }
    if (!url.startsWith("postgres://") && !url.startsWith("postgresql://")) {
      return new DatabaseConfig(url, user, password);
    }
    URI uri = uri(url);
    // Not the host of the URI, which knows no underscores.
    String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
    int at = authority.lastIndexOf('@');
    String[] login = at < 0 ? new String[0] : authority.substring(0, at).split(":", 2);
    String jdbc =
        "jdbc:postgresql://"
            + authority.substring(at + 1)
            + uri.getRawPath()
            + (uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery());
    return new DatabaseConfig(
        jdbc,
        login.length > 0 ? decode(login[0]) : user,
        login.length > 1 ? decode(login[1]) : password);
  }

  private static URI uri(String url) {
    try {
      return new URI(url);
    } catch (URISyntaxException e) {
      // Without the cause, which repeats the whole url.
      throw unfit(url, "; other characters of a password as %XX");
    }
  }

  private static IllegalArgumentException unfit(String url, @Nullable String hint) {
    return new IllegalArgumentException(
        "db-url: "
            + masked(url)
            + " (expected: jdbc:postgresql://… or postgres://…"
            + (hint == null ? "" : hint)
            + ")");
  }

  /** A url of a database as it may be shown: without passwords. */
  public static String masked(String url) {
    String login = LOGIN.matcher(url).replaceFirst("$1(hidden)@");
    return PARAMETER.matcher(login).replaceAll("$1(hidden)");
  }

  /** The same place with so many connections for reading. */
  public DatabaseConfig withPoolSize(int size) {
    return new DatabaseConfig(jdbcUrl, user, password, size, allowUnsafe);
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
    return "DatabaseConfig[" + masked(jdbcUrl) + ", user " + user + "]";
  }
}
