package dev.kagzi.engine.journal;

import dev.kagzi.engine.db.Session;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Knows how to say a batch of writes in SQL. Called by one lane at a time per instance. */
public interface BatchWriter<W extends Write<?>> {
  /** What is to be told to others once the batch is durable. Must be quick and must not throw. */
  @FunctionalInterface
  interface Effects {
    /** Nothing to tell. */
    Effects NONE = () -> {};

    /** Tells it. */
    void run();
  }

  /** Prepares a session that was just opened, before the first batch. */
  default void prepare(Session session) throws SQLException {}

  /** Says the batch within the open transaction and stages an answer for each of its writes. */
  Effects write(Session tx, List<W> batch) throws SQLException;

  /**
   * Writes in parts what the database refused as a whole, so that the part that it refuses costs no
   * other; answers and logs what is left out. Nothing when the write has no parts.
   */
  default Optional<Effects> writeInParts(Session tx, W write) throws SQLException {
    return Optional.empty();
  }

  /**
   * Says a batch of one or two writes by one statement that commits itself. Null when they are not
   * of that sort, or when something unusual came up and nothing was changed: then {@link #write}
   * says them.
   */
  @Nullable Effects writeAlone(Session session, List<W> batch) throws SQLException;
}
