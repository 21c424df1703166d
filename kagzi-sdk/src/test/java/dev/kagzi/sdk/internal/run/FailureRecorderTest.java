package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.ErrorSanitizer;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RetryAfterException;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class FailureRecorderTest {
  private static final FailureRecorder PLAIN = recorder(failure -> failure);

  @Test
  void well_known_exception_classes_and_causes_have_a_kind() {
    assertThat(kind(new TimeoutException())).isEqualTo(ErrorKind.TIMEOUT);
    assertThat(kind(new SocketTimeoutException())).isEqualTo(ErrorKind.TIMEOUT);
    assertThat(kind(new HttpConnectTimeoutException("x"))).isEqualTo(ErrorKind.TIMEOUT);
    assertThat(kind(new UncheckedIOException(new ConnectException()))).isEqualTo(ErrorKind.NETWORK);
    assertThat(kind(new ExecutionException(new UnknownHostException())))
        .isEqualTo(ErrorKind.NETWORK);
    assertThat(kind(new RuntimeException(new SQLTransientConnectionException())))
        .isEqualTo(ErrorKind.DATABASE);
    assertThat(kind(new IOException("disk"))).isEqualTo(ErrorKind.UNKNOWN);
    assertThat(kind(new IllegalStateException())).isEqualTo(ErrorKind.UNKNOWN);
  }

  @Test
  void the_application_classifies_each_cause_before_the_built_in_table() {
    FailureRecorder recorder =
        new FailureRecorder(
            failure -> failure,
            thrown ->
                thrown instanceof IllegalStateException ? ErrorKind.RATE_LIMIT : ErrorKind.UNKNOWN,
            false);

    assertThat(failure(recorder, new RuntimeException(new IllegalStateException())).kind())
        .isEqualTo(ErrorKind.RATE_LIMIT);
    assertThat(failure(recorder, new ConnectException()).kind()).isEqualTo(ErrorKind.NETWORK);
    assertThat(failure(recorder, new TimeoutException()).kind()).isEqualTo(ErrorKind.TIMEOUT);
  }

  @Test
  void a_classifier_that_throws_is_ignored() {
    FailureRecorder recorder =
        new FailureRecorder(
            failure -> failure,
            thrown -> {
              throw new AssertionError("broken");
            },
            false);

    assertThat(failure(recorder, new ConnectException()).kind()).isEqualTo(ErrorKind.NETWORK);
  }

  @Test
  void the_superclasses_of_an_exception_are_recorded() {
    ErrorDetail error = PLAIN.record(new ConnectException("no"));

    assertThat(error.getMetadataMap())
        .containsEntry("type", "java.net.ConnectException")
        .containsEntry(
            "supertypes", "java.net.SocketException,java.io.IOException,java.lang.Exception");
    assertThat(PLAIN.record(new RuntimeException()).getMetadataMap())
        .containsEntry("supertypes", "java.lang.Exception");
  }

  @Test
  void each_cause_is_one_line_and_a_cycle_ends() {
    IllegalStateException inner = new IllegalStateException("in\nside");
    Exception outer = new Exception("outside", inner);
    inner.initCause(outer);

    Failure failure = failure(PLAIN, outer);

    assertThat(failure.causes()).containsExactly("java.lang.IllegalStateException: in side");
    assertThat(failure.stack().orElseThrow())
        .startsWith("java.lang.Exception: outside\n\tat ")
        .contains("each_cause_is_one_line_and_a_cycle_ends")
        .contains("Caused by: ");
  }

  @Test
  void texts_are_limited_and_have_no_control_characters() {
    String deep = "x\u0000".repeat(50_000);

    ErrorDetail error = PLAIN.record(new IllegalStateException(deep));

    assertThat(error.getMessage()).hasSizeBetween(8_000, 8 << 10).endsWith("x...");
    assertThat(error.getMetadataOrThrow("stack")).hasSizeBetween(32_000, 32 << 10);
    assertThat(error.toString()).doesNotContain("\\000");
  }

  @Test
  void stack_traces_can_be_left_out() {
    FailureRecorder recorder =
        new FailureRecorder(failure -> failure, thrown -> ErrorKind.UNKNOWN, false);

    assertThat(failure(recorder, new IOException("x")).stack()).isEmpty();
  }

  @Test
  void an_exception_decides_whether_and_when_it_is_retried() {
    assertThat(PLAIN.record(new NonRetryableException("no")).getNonRetryable()).isTrue();
    assertThat(PLAIN.record(new IOException()).getNonRetryable()).isFalse();
    assertThat(
            PLAIN.record(new RetryAfterException("later", Duration.ofSeconds(7))).getRetryAfterMs())
        .isEqualTo(7_000);
    assertThat(PLAIN.record(new RetryAfterException("now", Duration.ZERO)).getRetryAfterMs())
        .as("0 would mean that the delay of the policy applies")
        .isEqualTo(1);
    assertThat(PLAIN.record(new TimeoutException()).getCode())
        .isEqualTo(ErrorCode.ERROR_CODE_TIMEOUT);
  }

  @Test
  void the_result_of_the_sanitizer_is_stored() {
    FailureRecorder recorder =
        recorder(failure -> failure.redacted(text -> text.replace("4111", "****")));
    Exception thrown = new IOException("card 4111", new IOException("4111 again"));

    ErrorDetail error = recorder.record(thrown);

    assertThat(error.toString()).contains("card ****").doesNotContain("4111");
    assertThat(ProtoMapper.failure(error).causes())
        .containsExactly("java.io.IOException: **** again");
  }

  @Test
  void control_characters_of_the_sanitizer_are_removed() {
    ErrorDetail error =
        recorder(failure -> new Failure("", "a\u0000b", true, Map.of("ticket", "c\u0000d")))
            .record(new IOException("x"));

    assertThat(error)
        .isEqualTo(
            ErrorDetail.newBuilder()
                .setMessage("ab")
                .setNonRetryable(true)
                .putMetadata("ticket", "cd")
                .build());
  }

  @Test
  void a_sanitizer_that_fails_leaves_the_class_and_no_text() {
    Exception secret = new ConnectException("password is 123");

    for (ErrorSanitizer broken :
        new ErrorSanitizer[] {failing(), returningNull(), returningNullText()}) {
      ErrorDetail error = recorder(broken).record(secret);

      assertThat(error.getMessage()).contains("withheld");
      assertThat(error.toString()).doesNotContain("123");
      assertThat(ProtoMapper.failure(error).type()).isEqualTo("java.net.ConnectException");
      assertThat(ProtoMapper.failure(error).kind()).isEqualTo(ErrorKind.NETWORK);
      assertThat(ProtoMapper.failure(error).stack()).isEmpty();
    }
  }

  @Test
  void an_exception_whose_message_throws_is_recorded_by_its_class() {
    class WithoutMessage extends RuntimeException {
      @Override
      public String getMessage() {
        throw new IllegalStateException("no message");
      }
    }

    assertThat(failure(PLAIN, new WithoutMessage()).type()).endsWith("WithoutMessage");
  }

  @Test
  void a_run_that_a_step_ended_has_the_name_and_error_of_the_step() {
    Failure failure =
        new Failure("java.io.IOException", "gateway", false, Map.of("kind", "NETWORK"));
    StepFailedException failed = new StepFailedException("charge", failure);

    Failure direct = failure(PLAIN, failed);
    Failure wrapped = failure(PLAIN, new IllegalStateException("no order", failed));

    assertThat(direct.message()).isEqualTo("gateway");
    assertThat(direct.type()).isEqualTo("java.io.IOException");
    assertThat(direct.step()).contains("charge");
    assertThat(wrapped.message()).isEqualTo("no order");
    assertThat(wrapped.step()).contains("charge");
    assertThat(wrapped.kind()).isEqualTo(ErrorKind.NETWORK);
  }

  @Test
  void a_failure_matches_its_classes_and_those_of_its_causes() {
    Failure failure =
        failure(PLAIN, new java.io.UncheckedIOException(new java.net.ConnectException("refused")));

    assertThat(failure.isA(java.io.UncheckedIOException.class)).isTrue();
    assertThat(failure.isA(RuntimeException.class)).isTrue();
    assertThat(failure.isA(java.net.ConnectException.class)).isTrue();
    assertThat(failure.isA(IllegalStateException.class)).isFalse();
  }

  @Test
  void an_exception_without_a_message_is_shown_by_its_class_once() {
    assertThat(failure(PLAIN, new IllegalStateException()))
        .hasToString("java.lang.IllegalStateException");
    assertThat(new Failure("terminated", "terminated: enough", true, Map.of()))
        .hasToString("terminated: enough");
  }

  private static ErrorSanitizer failing() {
    return failure -> {
      throw new AssertionError("broken");
    };
  }

  @SuppressWarnings("NullAway")
  private static ErrorSanitizer returningNull() {
    return failure -> null;
  }

  @SuppressWarnings("NullAway")
  private static ErrorSanitizer returningNullText() {
    return failure -> new Failure(failure.type(), null, false, failure.metadata());
  }

  private static FailureRecorder recorder(ErrorSanitizer sanitizer) {
    return new FailureRecorder(sanitizer, thrown -> ErrorKind.UNKNOWN, true);
  }

  private static ErrorKind kind(Throwable thrown) {
    return failure(PLAIN, thrown).kind();
  }

  private static Failure failure(FailureRecorder recorder, Throwable thrown) {
    return ProtoMapper.failure(recorder.record(thrown));
  }
}
