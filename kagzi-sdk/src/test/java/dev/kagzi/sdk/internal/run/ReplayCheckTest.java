package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Timestamp;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplayCheckTest {
  private final Map<String, RecordedStep> history = new LinkedHashMap<>();

  private void recorded(String key, int epoch, int second) {
    history.put(
        key,
        RecordedStep.newBuilder()
            .setStepKey(key)
            .setKind(StepKind.STEP_KIND_FUNCTION)
            .setOutput(Payload.getDefaultInstance())
            .setEpoch(epoch)
            .setRecordedAt(Timestamp.newBuilder().setSeconds(second))
            .build());
  }

  private List<ReplayCheck.Mismatch> replay(String... keys) {
    Map<String, RecordedStep> unconsumed = new LinkedHashMap<>(history);
    ReplayCheck check =
        new ReplayCheck(List.copyOf(history.values()), unconsumed::containsKey, List.of());
    List<ReplayCheck.Mismatch> found = new ArrayList<>();
    for (String key : keys) {
      ReplayCheck.Mismatch mismatch =
          check.ask(key, StepKind.STEP_KIND_FUNCTION, unconsumed.remove(key));
      if (mismatch != null) {
        found.add(mismatch);
      }
    }
    return found;
  }

  private void recordTwoClaims() {
    recorded("a", 1, 1);
    recorded("nap", 1, 2);
    recorded("b", 2, 3);
    recorded("c", 2, 4);
  }

  @Test
  void a_step_inserted_in_one_claim_does_not_replace_one_removed_from_the_next() {
    recordTwoClaims();

    assertThat(replay("a", "new", "nap", "c")).isEmpty();
    assertThat(replay("new", "a", "nap", "c")).isEmpty();
  }

  @Test
  void a_new_name_in_place_of_the_first_step_of_a_claim_is_a_certain_mismatch() {
    recordTwoClaims();

    assertThat(replay("a", "nap", "new", "c"))
        .singleElement()
        .satisfies(
            mismatch -> {
              assertThat(mismatch.before()).isEqualTo("the history has b before c");
              assertThat(mismatch.now()).isEqualTo("asks for new in its place");
              assertThat(mismatch.isCertain()).isTrue();
            });
    assertThat(replay("new", "nap", "b", "c"))
        .singleElement()
        .extracting(ReplayCheck.Mismatch::before)
        .isEqualTo("the history has a before nap");
  }

  /** The clock of the database was set back between b and c. */
  @Test
  void an_order_that_only_recorded_times_show_is_no_certain_mismatch() {
    recorded("a", 1, 100);
    recorded("b", 1, 101);
    recorded("c", 1, 50);
    recorded("d", 1, 51);

    assertThat(replay("a", "b", "c", "d")).isNotEmpty().noneMatch(ReplayCheck.Mismatch::isCertain);
  }
}
