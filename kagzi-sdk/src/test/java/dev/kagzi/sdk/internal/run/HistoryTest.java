package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class HistoryTest {
  private static History of(String... keys) {
    Map<String, RecordedStep> steps = new LinkedHashMap<>();
    for (String key : keys) {
      steps.put(key, RecordedStep.newBuilder().setStepKey(key).build());
    }
    return new History(steps);
  }

  /** Step names may contain brackets; only scopes of branches have a slash behind them. */
  @Test
  void recorded_steps_of_branches_are_dropped_and_other_steps_are_kept() {
    List<String> beside = List.of("pack", "pack[x]", "pack[x][y]/b", "pack#2[0]/c", "packs[0]/d");
    History history =
        of(
            "pack[0]/a",
            "pack[1]/inner[0]/a",
            "pack",
            "pack[x]",
            "pack[x][y]/b",
            "pack#2[0]/c",
            "packs[0]/d");

    history.discard("pack[");

    assertThat(history.take("pack[0]/a")).isNull();
    assertThat(history.take("pack[1]/inner[0]/a")).isNull();
    assertThat(beside).allMatch(key -> history.take(key) != null);
    assertThat(history.isEmpty("")).isTrue();
  }

  /**
   * A branch that wins while another one takes its recorded receive gives the signals of that one
   * back.
   */
  @Test
  void a_receive_is_known_at_every_moment_while_it_is_taken() throws Exception {
    String key = "race[b]/approval";
    RecordedStep receive =
        RecordedStep.newBuilder().setStepKey(key).setKind(StepKind.STEP_KIND_SIGNAL).build();
    for (int i = 0; i < 2_000; i++) {
      History history = new History(Map.of(key, receive));
      CyclicBarrier together = new CyclicBarrier(2);
      FutureTask<RecordedStep> taken =
          new FutureTask<>(
              () -> {
                together.await();
                return history.take(key);
              });
      Thread.ofVirtual().start(taken);
      together.await();

      assertThat(history.hasReceives("race[b]/")).isTrue();
      assertThat(taken.get()).isEqualTo(receive);
      assertThat(history.hasReceives("race[b]/")).isTrue();
      assertThat(history.hasReceives("race[a]/")).isFalse();
    }
  }

  @Test
  void the_steps_of_one_branch_are_dropped_and_those_of_others_are_kept() {
    History history = of("race[a]/x", "race[b]/x", "race");

    history.discard("race[a]/");

    assertThat(history.take("race[a]/x")).isNull();
    assertThat(history.take("race[b]/x")).isNotNull();
    assertThat(history.take("race")).isNotNull();
  }
}
