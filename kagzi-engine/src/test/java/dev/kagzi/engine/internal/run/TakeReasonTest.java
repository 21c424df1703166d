package dev.kagzi.engine.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The reasons for which a claim is taken away from its holder. */
class TakeReasonTest {
  private static final Path PAGE = Path.of("../docs/internals/leases-and-crashes.md");
  private static final Path RECOVERY =
      Path.of("src/main/java/dev/kagzi/engine/internal/worker/Recovery.java");

  @ParameterizedTest
  @EnumSource
  void the_documentation_has_every_reason(TakeReason reason) throws Exception {
    assertThat(Files.readString(PAGE)).contains("`" + reason + "`");
  }

  @ParameterizedTest
  @EnumSource(
      mode = EnumSource.Mode.EXCLUDE,
      names = {"WORKER_FORCED_OFFLINE", "WORKER_LEFT", "TASK_NOT_TAKEN"})
  void every_way_of_recovery_is_on_one_page(TakeReason reason) throws Exception {
    assertThat(Files.readString(RECOVERY)).contains("{@link TakeReason#" + reason + "}");
  }
}
