package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ErrorListTest {

  private static final List<String> ROWS = rows();

  private static List<String> rows() {
    try {
      return Files.readAllLines(Path.of("../docs/errors.md")).stream()
          .dropWhile(line -> !line.equals("## From the SDK"))
          .dropWhile(line -> !line.startsWith("|---"))
          .skip(1)
          .takeWhile(line -> line.startsWith("|"))
          .toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void the_list_of_errors_has_each_code_of_a_client_and_no_other() {
    assertThat(ROWS)
        .extracting(row -> row.replaceFirst("^\\| `([A-Z_]+)` .*", "$1"))
        .containsExactlyElementsOf(Arrays.stream(ClientCode.values()).map(Enum::name).toList());
  }

  @Test
  void every_exception_is_in_the_list_or_carries_the_servers_code() {
    List<Class<?>> thrown = thrown(KagziException.class).toList();

    assertThat(thrown).contains(StepFailedException.class, RunNotFoundException.class);
    for (Class<?> type : thrown) {
      assertThat(type == RequestRefusedException.class || isListed(type))
          .as(type.getName())
          .isTrue();
    }
    assertThat(new RunCancelledException("r").code()).isEqualTo("RUN_CANCELLED");
    assertThat(new RequestRefusedException("NAMESPACE_DISABLED", "no", null).code())
        .isEqualTo("NAMESPACE_DISABLED");
  }

  @Test
  void failed_steps_children_callbacks_branches_and_compensations_have_one_supertype() {
    assertThat(thrown(WorkFailedException.class).toList())
        .containsExactlyInAnyOrder(
            StepFailedException.class,
            ChildFailedException.class,
            CallbackFailedException.class,
            BranchFailedException.class,
            CompensationFailedException.class);
  }

  /** The exception classes that are thrown, without abstract supertypes. */
  private static Stream<Class<?>> thrown(Class<?> type) {
    return type.isSealed()
        ? Arrays.stream(type.getPermittedSubclasses()).flatMap(ErrorListTest::thrown)
        : Stream.of(type);
  }

  private static boolean isListed(Class<?> type) {
    return ROWS.stream().anyMatch(row -> row.contains("`" + type.getSimpleName() + "`"));
  }
}
