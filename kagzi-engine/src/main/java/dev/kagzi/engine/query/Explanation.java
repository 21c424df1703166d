package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why a run does not continue, or what it is doing.
 *
 * @param status null if the database did not answer, or if the run was requested and no server has
 *     started it
 * @param causes the most important one first; at least one
 */
public record Explanation(@Nullable RunStatus status, List<WaitCause> causes) {
  public Explanation {
    causes = List.copyOf(causes);
  }

  static Explanation databaseAway(String message) {
    return new Explanation(
        null,
        List.of(
            WaitCause.of(
                WaitCause.Code.DATABASE_AWAY,
                null,
                ("The server cannot reach its database (%s), so no run continues. Runs continue by"
                        + " themselves when PostgreSQL answers again; see the server's log.")
                    .formatted(WaitText.brief(message)))));
  }
}
