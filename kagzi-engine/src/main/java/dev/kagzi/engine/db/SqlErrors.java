package dev.kagzi.engine.db;

import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;

/** What PostgreSQL's error classes mean for whoever sent the statement. */
public final class SqlErrors {
  /** SQLSTATE of what is too much at once. */
  public static final String LIMIT_EXCEEDED = "54000";

  /** Of what a refusal is that says that the database does not answer. */
  static final String SUBJECT = "database";

  private static final String CANCELLED = "57014";
  private static final String LOCK_TIMEOUT = "55P03";

  private SqlErrors() {}

  /** True for a statement that was ended because it took too long. */
  static boolean isCancelled(SQLException error) {
    return CANCELLED.equals(error.getSQLState());
  }

  /** True for a statement that has waited for a lock for too long. */
  static boolean isLockTimeout(SQLException error) {
    return LOCK_TIMEOUT.equals(error.getSQLState());
  }

  /** What to do after a statement failed. */
  public enum Remedy {
    /** The data itself is refused, or is too much at once: find the culprit. */
    SPLIT,
    /** A race with another transaction: send it again. */
    REPEAT,
    /** The connection or the server is gone or unwilling: pause, reconnect, send it again. */
    RECONNECT
  }

  /** Judges by SQLSTATE alone; what is not known to be harmless costs a new connection. */
  public static Remedy remedy(SQLException error) {
    String state = error.getSQLState() == null ? "" : error.getSQLState();
    if (state.startsWith("22") || state.startsWith("23") || state.startsWith("54")) {
      return Remedy.SPLIT;
    }
    if (state.startsWith("40") || state.equals(LOCK_TIMEOUT)) {
      return Remedy.REPEAT;
    }
    return Remedy.RECONNECT;
  }

  /**
   * The same for a caller: data that PostgreSQL refuses is the caller's fault, the rest is ours.
   * {@link DatabaseFailureLog} has logged it.
   */
  public static Refusal refusal(SQLException error) {
    if (remedy(error) == Remedy.SPLIT) {
      return Refusal.of(
          Refusal.Reason.INVALID_ARGUMENT,
          "value",
          "",
          "the database refused a value of this request (SQLSTATE " + error.getSQLState() + ")");
    }
    return Refusal.of(
        Refusal.Reason.UNAVAILABLE,
        SUBJECT,
        "",
        "the database does not answer (SQLSTATE " + error.getSQLState() + "); try again");
  }
}
