package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.WatchedConnector;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A branch that has received many signals loses its race, and gives them back. */
class StoppedReceivesTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int SIGNALS = 40;

  private WatchedConnector connections;
  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    connections = new WatchedConnector(() -> Database.connect(database.config()));
    engine =
        TestEngine.start(
            database.config(),
            test.getTestMethod().orElseThrow().getName(),
            EngineConfig.defaults(),
            connections);
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private void send(RunId run, int number) {
    await(
        engine
            .engine()
            .runs()
            .signal(
                NAMESPACE, run, new SignalRequest("approval", payload("" + number), "s" + number)));
  }

  private static Report receive(Claim claim, String step) {
    return new Report.Receive(claim, step, "approval", null, true);
  }

  /** All but the last two signals are received by the branch that loses. */
  private Claim runWhoseBranchHasReceived() {
    RunId run = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    for (int i = 1; i <= SIGNALS; i++) {
      send(run, i);
    }
    for (int i = 1; i <= SIGNALS - 2; i++) {
      engine.report(receive(claim, "race[ask]/approval#" + i));
    }
    return claim;
  }

  private void assertReceivesInOrder(Claim claim, int first) {
    List<Result> expected = new ArrayList<>();
    List<Result> received = new ArrayList<>();
    for (int i = first; i <= SIGNALS; i++) {
      expected.add(new Result.Output(payload("" + i)));
      received.add(EngineFixture.result(engine.report(receive(claim, "approval#" + i))));
    }
    assertThat(received).isEqualTo(expected);
    assertThat(engine.report(receive(claim, "approval#none")))
        .isInstanceOf(ReportResult.Receiving.class);
  }

  /** They may be more than the server's memory can hold. */
  @Test
  void signals_are_given_back_without_being_read() {
    Claim claim = runWhoseBranchHasReceived();
    connections.forget();

    assertThat(engine.report(new Report.ReceivesStopped(claim, List.of("race[ask]/"), null)))
        .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));

    assertThat(connections.byLanes())
        .extracting(WatchedConnector.Sent::sql)
        .noneMatch(sql -> sql.startsWith("SELECT") && sql.contains("run_signals"));
    assertReceivesInOrder(claim, 1);
  }

  @Test
  void receives_in_the_same_batch_get_the_oldest_signals_and_the_others_stay_in_order() {
    Claim claim = runWhoseBranchHasReceived();

    List<ReportResult> results =
        engine.report(
            List.of(
                receive(claim, "race[ask]/approval#last"),
                new Report.ReceivesStopped(claim, List.of("race[ask]/"), null),
                receive(claim, "approval#1"),
                receive(claim, "approval#2")));

    assertThat(List.of(results.get(0), results.get(2), results.get(3)))
        .extracting(EngineFixture::result)
        .containsExactly(
            new Result.Output(payload("" + (SIGNALS - 1))),
            new Result.Output(payload("1")),
            new Result.Output(payload("2")));
    assertReceivesInOrder(claim, 3);
  }
}
