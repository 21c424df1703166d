package dev.kagzi.cli;

import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Registered before the PostgreSQL driver; leaves every URL to it. It throws an {@link
 * OutOfMemoryError} in threads whose name starts with the system property {@value #THREAD}, while
 * the file of {@value #WHILE} exists.
 */
public final class FaultyDriver implements Driver {
  static final String THREAD = "fault.thread";
  static final String WHILE = "fault.while";

  static {
    try {
      DriverManager.registerDriver(new FaultyDriver());
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public @Nullable Connection connect(String url, Properties properties) {
    String thread = System.getProperty(THREAD, "none");
    if (Thread.currentThread().getName().startsWith(thread)
        && java.nio.file.Files.exists(java.nio.file.Path.of(System.getProperty(WHILE, "")))) {
      throw new OutOfMemoryError("planted");
    }
    return null;
  }

  @Override
  public boolean acceptsURL(String url) {
    return false;
  }

  @Override
  public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
    return new DriverPropertyInfo[0];
  }

  @Override
  public int getMajorVersion() {
    return 1;
  }

  @Override
  public int getMinorVersion() {
    return 0;
  }

  @Override
  public boolean jdbcCompliant() {
    return false;
  }

  @Override
  public Logger getParentLogger() {
    return Logger.getLogger("faulty");
  }
}
