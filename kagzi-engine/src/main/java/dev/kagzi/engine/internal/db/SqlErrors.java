package dev.kagzi.engine.internal.db;

import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;

/** Decides by PostgreSQL's error class what the sender of a statement does next. */
public final class SqlErrors {
  public static final String LIMIT_EXCEEDED = "54000";
  static final String SUBJECT = "database";

  private static final String CANCELLED = "57014";
  private static final String LOCK_TIMEOUT = "55P03";

  private SqlErrors() {}

  static boolean isCancelled(SQLException error) {
    return CANCELLED.equals(error.getSQLState());
  }

  static boolean isLockTimeout(SQLException error) {
    return LOCK_TIMEOUT.equals(error.getSQLState());
  }

  public enum Remedy {
    /** PostgreSQL refuses the data or its amount: split the batch to find the bad write. */
    SPLIT,
    /** A conflict with another transaction: send the batch again. */
    REPEAT,
    /** The connection or the server failed: pause, reconnect and send the batch again. */
    RECONNECT
  }

  /** Decides by SQLSTATE alone; for an unknown one, the sender reconnects. */
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
   * Returns the refusal for a caller: INVALID_ARGUMENT for data that PostgreSQL refuses,
   * UNAVAILABLE for all other errors. The text is short, because {@link DatabaseFailureLog} logs
   * the details.
   */
  public static Refusal refusal(SQLException error) {
    if (remedy(error) == Remedy.SPLIT) {
      return Refusal.of(
          Refusal.Reason.INVALID_ARGUMENT,
          "value",
          "",
          "the database refused a value of this request (SQLSTATE " + error.getSQLState() + ")");
    }
    String what =
        error.getSQLState() == null || DatabaseFailureLog.isOutage(error)
            ? "the database does not answer"
            : "a statement failed in the database";
    return Refusal.of(
        Refusal.Reason.UNAVAILABLE,
        SUBJECT,
        "",
        what + " (SQLSTATE " + error.getSQLState() + "); try again");
  }
}
