package dev.kagzi.engine.value;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class LimitsTest {
  private static final Limits LIMITS = Limits.DEFAULT;

  @Test
  void a_name_has_one_to_two_hundred_characters() {
    LIMITS.checkName("namespace", "a");
    LIMITS.checkName("namespace", "ä".repeat(200));

    assertRefused(() -> LIMITS.checkName("namespace", ""), "namespace", "1 to 200");
    assertRefused(
        () -> LIMITS.checkName("namespace", "a".repeat(201)), "201 characters", "at most 200");
  }

  /** A receive is a step with the name of its signal, and these characters separate step keys. */
  @Test
  void a_signal_that_no_code_could_receive_is_refused() {
    LIMITS.checkSignalName("name", "approval");
    for (String name : List.of("a#2", "a/b", "ann@shop")) {
      assertRefused(
          () -> LIMITS.checkSignalName("name", name), name, "none of the characters # / @");
    }
  }

  @Test
  void a_name_of_a_million_characters_is_shortened_in_the_message() {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(() -> LIMITS.checkName("task_queue", "q".repeat(1 << 20)))
        .satisfies(refusal -> assertThat(refusal.getMessage()).hasSizeLessThan(300));
  }

  @Test
  void a_name_has_no_control_characters() {
    for (char c : new char[] {0, '\n', '\t', 0x1b, 0x7f, 0x85}) {
      assertRefused(() -> LIMITS.checkName("version", "a" + c), "version", "control");
    }
  }

  @Test
  void an_optional_name_may_be_left_out() {
    LIMITS.checkOptionalName("version", "");
    LIMITS.checkOptionalName("version", null);
    LIMITS.checkExternalId("external_id", "");

    assertRefused(() -> LIMITS.checkOptionalName("version", "\n"), "version", "control");
  }

  @Test
  void external_ids_and_step_keys_may_be_longer() {
    LIMITS.checkExternalId("external_id", "x".repeat(500));
    LIMITS.checkStepKey("step", "x".repeat(500));

    assertRefused(() -> LIMITS.checkExternalId("external_id", "x".repeat(501)), "501", "500");
    assertRefused(() -> LIMITS.checkStepKey("step", "x".repeat(501)), "501", "500");
    assertRefused(() -> LIMITS.checkStepKey("step", ""), "step", "1 to 500");
  }

  @Test
  void text_that_postgresql_cannot_store_is_refused_and_shown_escaped() {
    assertRefused(() -> LIMITS.checkText("reason", "a\u0000b"), "a\\u0000b", "U+0000");
    for (String half :
        new String[] {"\ud800", "\udc00", "\udc00\ud800", "x\ud800x", "\ud800\ud800"}) {
      assertRefused(() -> LIMITS.checkText("reason", half), "\\ud", "unpaired");
      assertRefused(() -> LIMITS.checkName("name", half), "\\ud", "unpaired");
    }
    LIMITS.checkText("reason", "line\nline 😀");
  }

  @Test
  void a_payload_may_have_any_bytes_up_to_the_limit() {
    LIMITS.checkPayload("input", null);
    LIMITS.checkPayload("input", new Payload(new byte[2 << 20], Map.of()));

    assertRefused(
        () -> LIMITS.checkPayload("input", new Payload(new byte[(2 << 20) + 1], Map.of())),
        "2097153 bytes",
        "2097152");
  }

  @Test
  void metadata_counts_and_must_be_storable() {
    assertRefused(
        () -> LIMITS.checkPayload("input", new Payload(new byte[2 << 20], Map.of("a", "b"))),
        "2097154 bytes",
        "2097152");
    assertRefused(
        () -> LIMITS.checkPayload("input", new Payload(new byte[1], Map.of("k", "\u0000"))),
        "input.metadata[k]",
        "U+0000");
    assertRefused(
        () -> LIMITS.checkPayload("input", new Payload(new byte[1], Map.of("k\u0000", ""))),
        "input.metadata key",
        "U+0000");
  }

  @Test
  void large_payloads_are_recognized() {
    assertThat(LIMITS.isLarge(new Payload(new byte[1 << 20], Map.of()))).isFalse();
    assertThat(LIMITS.isLarge(new Payload(new byte[(1 << 20) + 1], Map.of()))).isTrue();
  }

  @Test
  void labels_are_few_and_short() {
    Map<String, String> many = new HashMap<>();
    for (int i = 0; i < 100; i++) {
      many.put("label" + i, "v".repeat(1_000));
    }
    LIMITS.checkLabels("labels", many);
    many.put("one too many", "");

    assertRefused(() -> LIMITS.checkLabels("labels", many), "101 entries", "100");
    assertRefused(() -> LIMITS.checkLabels("labels", Map.of("", "v")), "labels key", "1 to");
    assertRefused(
        () -> LIMITS.checkLabels("labels", Map.of("k", "v".repeat(1_001))), "labels[k]", "1000");
  }

  @Test
  void a_failure_may_be_as_large_as_a_payload() {
    Failure large =
        new Failure(
            ErrorCode.INTERNAL,
            "m".repeat(1 << 20),
            false,
            0,
            "",
            "",
            Map.of("stack", "s".repeat(1_000_000)));
    LIMITS.checkFailure("error", large);

    assertRefused(
        () -> LIMITS.checkFailure("error", Failure.of(ErrorCode.INTERNAL, "m".repeat(3 << 20))),
        "3145728 bytes",
        "2097152");
    assertRefused(
        () -> LIMITS.checkFailure("error", Failure.of(ErrorCode.INTERNAL, "\u0000")),
        "error.message",
        "U+0000");
  }

  @Test
  void limits_themselves_are_at_least_one() {
    assertThatThrownBy(() -> new Limits(1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("payloadBytesMax: 0");
    assertThatCode(() -> new Limits(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)).doesNotThrowAnyException();
  }

  private static void assertRefused(ThrowingCallable call, String... parts) {
    assertThatExceptionOfType(Refusal.class)
        .isThrownBy(call)
        .satisfies(
            refusal -> {
              assertThat(refusal.reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT);
              assertThat(refusal.getMessage()).contains(parts);
            });
  }
}
