package dev.kagzi.engine;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.postgres.CuttingProxy;
import org.jspecify.annotations.NullMarked;

/** A proxy between an engine and PostgreSQL that cuts off the answer to a commit. */
@NullMarked
public final class CutProxy extends CuttingProxy {
  private final DatabaseConfig behind;

  public CutProxy(DatabaseConfig behind) {
    super(behind.jdbcUrl());
    this.behind = behind;
  }

  /** The configuration of the database through this proxy. */
  public DatabaseConfig config() {
    return config("");
  }

  /** Returns the same configuration with one more driver parameter. */
  public DatabaseConfig config(String parameter) {
    return new DatabaseConfig(jdbcUrl(parameter), behind.user(), behind.password()).unsafe();
  }
}
