package dev.kagzi.engine.request;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.request.IdempotentCall;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import java.time.Duration;
import java.util.UUID;

/**
 * The logins to the dashboard that were ended before they expired, for all servers. They are stored
 * like the ids of idempotent calls, which are kept for a day. Thread-safe; all methods read or
 * write the database and block.
 */
public final class EndedLogins {
  /** How long an ended login is remembered; so no login may last longer. */
  public static final Duration REMEMBERED = IdempotentCalls.REMEMBERED;

  private final Database database;

  public EndedLogins(Database database) {
    this.database = database;
  }

  /** Ends a login. Has no effect if it was ended before. */
  public void add(UUID login) {
    IdempotentCalls.once(database, call(login), tx -> "", answer -> answer, (tx, answer) -> answer);
  }

  public boolean contains(UUID login) {
    return IdempotentCalls.isStored(database, call(login));
  }

  private static IdempotentCall call(UUID login) {
    return IdempotentCall.of(login, "EndLogin");
  }
}
