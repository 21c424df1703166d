package dev.kagzi.engine.internal.journal;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Executes batches of writes in SQL. Each lane has its own instance. */
public interface BatchWriter<W extends Write<?>> {
  /** Notifications to publish once the batch is committed. Must be quick and must not throw. */
  @FunctionalInterface
  interface Effects {
    Effects NONE = () -> {};

    void run();
  }

  default void prepare(Session session) throws SQLException {}

  /** Executes the batch within the open transaction and stages an answer for each write. */
  Effects write(Session tx, List<W> batch) throws SQLException;

  /**
   * Executes the parts of a write that PostgreSQL refused as a whole, so that one bad part does not
   * fail the others. Answers the write and logs the parts that are left out. Returns empty if the
   * write has no parts.
   */
  default Optional<Effects> writeInParts(Session tx, W write) throws SQLException {
    return Optional.empty();
  }

  /**
   * Executes a batch of one or two writes as a single autocommit statement. Returns null if there
   * is no statement for these writes, or if it changed nothing because of an unusual state; then
   * {@link #write} executes them.
   */
  @Nullable Effects writeAlone(Session session, List<W> batch) throws SQLException;
}
