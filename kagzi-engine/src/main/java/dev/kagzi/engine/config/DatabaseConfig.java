package dev.kagzi.engine.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The connection settings of the database.
 *
 * @param poolSize connections in the pool; threads such as the journal's lanes have their own
 *     connections in addition
 * @param allowUnsafe accepts a server with fsync off; for tests only
 */
public record DatabaseConfig(
    String jdbcUrl, String user, String password, int poolSize, boolean allowUnsafe) {

  private static final int POOL_SIZE = 8;
  private static final String TARGET = "targetServerType";

  // LOGIN and PARAMETER match passwords, to mask them: in the authority (between the first colon
  // and the last @), and in query parameters.
  private static final Pattern LOGIN = Pattern.compile("(//[^:/@]*:).*@");
  private static final Pattern JDBC_LOGIN = Pattern.compile("jdbc:postgresql://[^/?]*@");
  private static final Pattern PARAMETER = Pattern.compile("(?i)([?&][^=&]*password=)[^&]*");

  public DatabaseConfig {
    if (!jdbcUrl.startsWith("jdbc:postgresql:")) {
      throw invalidUrl(jdbcUrl, null);
    }
  }

  public DatabaseConfig(String jdbcUrl, String user, String password) {
    this(jdbcUrl, user, password, POOL_SIZE, false);
  }

  /**
   * Parses {@code jdbc:postgresql://…} and {@code postgres://user:password@host/db}. Also accepts
   * {@code jdbc:postgresql://user:password@host/db}, which the driver rejects with a message that
   * contains the password.
   */
  public static DatabaseConfig parse(String url, String user, String password) {
    if (JDBC_LOGIN.matcher(url).lookingAt()) {
      return parse(url.substring("jdbc:".length()), user, password);
    }
    if (!url.startsWith("postgres://") && !url.startsWith("postgresql://")) {
      return new DatabaseConfig(url, user, password);
    }
    URI uri = uri(url);
    // Not URI.getHost(), which is null for host names with underscores.
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

  /**
   * Returns the URL for the driver. Unless the URL sets {@code targetServerType}, adds {@code
   * primary}: with several hosts, or after a failover, the driver then connects only to the
   * writable server.
   */
  public String driverUrl() {
    return jdbcUrl.contains(TARGET + "=")
        ? jdbcUrl
        : jdbcUrl + (jdbcUrl.contains("?") ? "&" : "?") + TARGET + "=primary";
  }

  private static URI uri(String url) {
    try {
      return new URI(url);
    } catch (URISyntaxException e) {
      // Without the cause, whose message contains the whole URL with its password.
      throw invalidUrl(url, "; other characters of a password as %XX");
    }
  }

  private static IllegalArgumentException invalidUrl(String url, @Nullable String hint) {
    return new IllegalArgumentException(
        "db-url: "
            + masked(url)
            + " (expected: jdbc:postgresql://… or postgres://…"
            + (hint == null ? "" : hint)
            + ")");
  }

  public static String masked(String url) {
    String login = LOGIN.matcher(url).replaceFirst("$1(hidden)@");
    return PARAMETER.matcher(login).replaceAll("$1(hidden)");
  }

  public DatabaseConfig withPoolSize(int size) {
    return new DatabaseConfig(jdbcUrl, user, password, size, allowUnsafe);
  }

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
