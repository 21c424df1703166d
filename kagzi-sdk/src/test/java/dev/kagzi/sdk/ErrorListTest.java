package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
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
    for (Class<?> type : KagziException.class.getPermittedSubclasses()) {
      assertThat(type == RequestRefusedException.class || isListed(type))
          .as(type.getName())
          .isTrue();
    }
    assertThat(new RunCancelledException("r").code()).isEqualTo("RUN_CANCELLED");
    assertThat(new RequestRefusedException("NAMESPACE_DISABLED", "no", null).code())
        .isEqualTo("NAMESPACE_DISABLED");
  }

  private static boolean isListed(Class<?> type) {
    return ROWS.stream().anyMatch(row -> row.contains("`" + type.getSimpleName() + "`"));
  }
}
