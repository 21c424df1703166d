package dev.kagzi.engine.internal.chore;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult.Continued;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.RunId;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A handle of the first run of a chain finds the result as long as the last run is kept. */
class ChainRetentionTest extends RetentionFixture {
  private RunId continueAsNew() {
    Report next =
        new Report.ContinueAsNew(
            engine.claimOne(worker).claim(), payload("\"next\""), null, false, "");
    return ((Continued) engine.report(next)).successor();
  }

  /** As a server reads it that has nothing in memory. */
  private static Optional<RunEnd> end(RunId run) {
    try (TestEngine other = TestEngine.start(database.config(), "other")) {
      return await(other.end(run));
    }
  }

  @Test
  void the_first_run_stays_until_the_last_is_deleted() {
    RunId first = engine.start();
    RunId middle = continueAsNew();
    RunId last = continueAsNew();
    age(first, 3);
    age(middle, 3);

    chore(DAY).run();
    assertThat(rows(first)).as("while the chain is open").isPositive();
    assertThat(rows(middle)).isZero();

    engine.report(done(engine.claimOne(worker).claim(), "\"out\""));
    chore(DAY).run();
    RunEnd end = end(first).orElseThrow();
    assertThat(end.runId()).isEqualTo(last);
    assertThat(end.output()).isEqualTo(payload("\"out\""));

    age(last, 3);
    chore(DAY).run();
    assertThat(rows(last)).isZero();
    assertThat(rows(first)).as("it was found before the last run was deleted").isPositive();
    assertThat(end(first)).as("the result is gone").isEmpty();

    chore(DAY).run();
    assertThat(rows(first)).isZero();
  }
}
