package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A cancelled run whose worker gives it back with a long delay, because it is blocked. */
class CancelledReleaseTest extends EngineFixture {
  private static final long GRACE_MS = 60_000;
  private static final long DELAY_MS = 300_000;
  private static final Failure BLOCKED =
      Failure.of(ErrorCode.UNSPECIFIED, "the application's database is away");

  private Claim claim() {
    PollRequest.Wanted cleansUp = new PollRequest.Wanted(TYPE, "", 0, GRACE_MS);
    List<Task> tasks =
        await(
            engine
                .engine()
                .tasks()
                .poll(new PollRequest(engine.queue(), worker, List.of(cleansUp), 1, 5_000))
                .tasks());
    assertThat(tasks).hasSize(1);
    return tasks.getFirst().claim();
  }

  @Test
  void it_is_executed_again_soon_so_that_it_can_clean_up_within_its_grace() {
    engine.start();
    Claim unaware = claim();
    await(engine.engine().runs().cancel(NAMESPACE, unaware.runId()));

    engine.report(new Report.Released(unaware, DELAY_MS, BLOCKED));
    Claim aware = claim();
    engine.report(new Report.Released(aware, DELAY_MS, BLOCKED));

    assertThat(claim().epoch()).isEqualTo(aware.epoch() + 1);
  }
}
