package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/client.md. */
@ExtendWith(KagziExtension.class)
class ClientDocsTest {
  static final WorkflowType<String, String> REPORT =
      WorkflowType.of("report", String.class, String.class);

  static Kagzi connect() {
    // docs: client.md
    Kagzi kagzi =
        Kagzi.builder()
            .address(
                "one:50051,two:50051") // servers of one database; the first that answers is used
            .callTimeout(Duration.ofSeconds(10)) // the default
            .connect();
    // end
    return kagzi;
  }

  static CompletableFuture<ScheduleInfo> save(Kagzi kagzi) {
    // docs: client.md
    CompletableFuture<ScheduleInfo> saved =
        kagzi
            .schedule("daily-report")
            .workflow(REPORT)
            .cron("0 9 * * *")
            .createOrUpdateWhenConnected();
    // end
    return saved;
  }

  @Test
  void connect_returns_at_once_and_ping_throws_if_no_server_answers() {
    try (Kagzi kagzi = connect()) {
      assertThatThrownBy(() -> kagzi.ping(Duration.ofMillis(500)))
          .isInstanceOf(ServerUnavailableException.class)
          .hasMessageContaining("one:50051,two:50051");
    }
  }

  @Test
  void a_schedule_is_saved_in_the_background(KagziEnv env) {
    String id = save(env.kagzi()).join().id();

    assertThat(env.kagzi().schedule("daily-report").get().id()).isEqualTo(id);
  }
}
