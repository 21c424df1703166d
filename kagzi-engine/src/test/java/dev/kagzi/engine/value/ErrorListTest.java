package dev.kagzi.engine.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ErrorListTest {

  @Test
  void the_list_of_errors_contains_exactly_the_codes_of_the_server() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/errors.md")).stream()
            .dropWhile(line -> !line.equals("## From a server"))
            .dropWhile(line -> !line.startsWith("|---"))
            .skip(1)
            .takeWhile(line -> line.startsWith("|"))
            .toList();

    assertThat(rows)
        .extracting(row -> row.replaceFirst("^\\| `([A-Z_]+)` \\| ([A-Z_]+) .*", "$1 $2"))
        .containsExactlyElementsOf(
            Arrays.stream(Refusal.Code.values())
                .map(code -> code.name() + " " + code.reason().name())
                .toList());
    assertThat(rows).allMatch(row -> row.split("\\|").length == 5, "says what to do");
  }

  @Test
  void each_reason_is_a_code_too() {
    for (Refusal.Reason reason : Refusal.Reason.values()) {
      assertThat(Refusal.of(reason, "thing", "", "why").code().reason()).isEqualTo(reason);
    }
  }
}
