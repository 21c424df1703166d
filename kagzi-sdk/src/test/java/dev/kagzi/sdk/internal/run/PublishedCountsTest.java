package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished.NewValue;
import dev.kagzi.sdk.InvalidArgumentException;
import org.junit.jupiter.api.Test;

/** How published values are numbered and limited. */
class PublishedCountsTest {
  private static final Payload LARGE =
      Payload.newBuilder().setData(ByteString.copyFrom(new byte[60_000])).build();

  private final PublishedCounts counts = new PublishedCounts();

  @Test
  void all_steps_of_a_branch_share_a_scope_and_their_sequences_increase_over_claims() {
    NewValue first = counts.nextInStep("pack[1]/", 1, "progress", Payload.getDefaultInstance());
    NewValue second = counts.nextInStep("pack[1]/", 1, "progress", Payload.getDefaultInstance());
    NewValue later =
        new PublishedCounts().nextInStep("pack[1]/", 2, "progress", Payload.getDefaultInstance());

    assertThat(first.getScope()).isEqualTo(second.getScope()).isEqualTo("pack[1]/[step]/");
    assertThat(second.getSequence()).isGreaterThan(first.getSequence());
    assertThat(later.getSequence()).isGreaterThan(second.getSequence());
  }

  /** A replay does not execute the steps, and must not differ from the first execution. */
  @Test
  void what_steps_publish_does_not_count_for_the_limits_of_the_code() {
    for (int i = 0; i < 1_000; i++) {
      counts.nextInStep("", 1, "n" + i, i < 17 ? LARGE : Payload.getDefaultInstance());
    }

    for (int i = 0; i < 1_000; i++) {
      counts.next("", "n" + i, i < 17 ? LARGE : Payload.getDefaultInstance());
    }
    assertThatThrownBy(() -> counts.next("", "one more", Payload.getDefaultInstance()))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("1001");
    assertThatThrownBy(() -> counts.nextInStep("", 1, "one more", Payload.getDefaultInstance()))
        .isInstanceOf(InvalidArgumentException.class);
    assertThatThrownBy(() -> counts.next("", "n17", LARGE))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("1080000 bytes");
  }
}
