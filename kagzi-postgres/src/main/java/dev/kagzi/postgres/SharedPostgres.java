package dev.kagzi.postgres;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * One server for all tests of a JVM. It starts at first use, is not durable, uses a temporary
 * folder and ends with the JVM. Thread-safe.
 */
public final class SharedPostgres {

  private static final AtomicInteger DATABASES = new AtomicInteger();

  private SharedPostgres() {}

  private static final class Holder {
    static final EmbeddedPostgres SERVER =
        EmbeddedPostgres.builder().ephemeral().durable(false).start();
  }

  /** The server. Do not close it. */
  public static EmbeddedPostgres server() {
    return Holder.SERVER;
  }

  /** Creates an empty database with a unique name, and returns the name. */
  public static String createDatabase() {
    String name = nextName();
    server().createDatabase(name);
    return name;
  }

  /** Creates a copy of a database with a unique name, and returns the name. */
  public static String createDatabaseFrom(String template) {
    String name = nextName();
    server().createDatabase(name, template);
    return name;
  }

  private static String nextName() {
    return "test_" + DATABASES.incrementAndGet();
  }
}
