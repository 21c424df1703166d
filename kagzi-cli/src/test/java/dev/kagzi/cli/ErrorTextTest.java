package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.ErrorDetail;
import org.junit.jupiter.api.Test;

class ErrorTextTest {

  private static ErrorDetail stack(String stack) {
    return ErrorDetail.newBuilder().putMetadata("stack", stack).build();
  }

  @Test
  void the_place_is_the_first_frame_in_user_code_of_the_error_or_a_cause() {
    String stack =
        """
        java.util.concurrent.TimeoutException: step slow timed out after 3 s
        \tat dev.kagzi.sdk.internal.run.RunningStep.timeout(RunningStep.java:90)
        \tat java.base/java.lang.VirtualThread.run(VirtualThread.java:309)
        Caused by: java.lang.InterruptedException: sleep
        \tat java.base/java.lang.Thread.sleep(Thread.java:509)
        \tat app//com.example.Orders.charge(Orders.java:42)
        """;

    assertThat(ErrorText.place(stack(stack)))
        .isEqualTo("at app//com.example.Orders.charge(Orders.java:42)");
    assertThat(ErrorText.place(stack("x\n\tat java.base/java.lang.Thread.sleep(Thread.java:509)")))
        .isEqualTo("at java.base/java.lang.Thread.sleep(Thread.java:509)");
    assertThat(ErrorText.place(stack(""))).isEmpty();
  }

  @Test
  void a_type_in_the_message_is_not_repeated() {
    ErrorDetail.Builder error =
        ErrorDetail.newBuilder().putMetadata("type", "java.lang.IllegalStateException");

    assertThat(ErrorText.of(error.setMessage("no").build()))
        .isEqualTo("java.lang.IllegalStateException: no");
    assertThat(ErrorText.of(error.setMessage("java.lang.IllegalStateException").build()))
        .isEqualTo("java.lang.IllegalStateException");
    assertThat(
            ErrorText.of(
                error.putMetadata("type", "terminated").setMessage("terminated: x").build()))
        .isEqualTo("terminated: x");
  }
}
