package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** docs/why-a-run-waits.md explains every cause and no other one. */
class WaitCodesTest {

  @Test
  void every_code_has_one_row_with_its_meaning_and_what_to_do() throws IOException {
    List<String[]> rows =
        Files.readAllLines(Path.of("../docs/why-a-run-waits.md")).stream()
            .filter(line -> line.matches("\\| `[A-Z_]+` \\|.*"))
            .map(line -> line.split("\\|", -1))
            .toList();

    assertThat(rows)
        .allMatch(row -> row.length == 5 && row[2].length() > 20 && row[3].length() > 5);
    assertThat(rows)
        .extracting(row -> row[1].strip().replace("`", ""))
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(WaitCause.Code.values()).map(Enum::name).toList());
  }

  @Test
  void every_code_has_a_test_that_brings_a_run_into_that_state() throws IOException {
    StringBuilder tests = new StringBuilder();
    for (String name :
        List.of(
            "query/ExplainRunTest",
            "query/ExplainDispatchTest",
            "query/ExplainScheduleTest",
            "transition/CallbacksTest",
            "transition/CleanUpTest")) {
      Path file = Path.of("src/test/java/dev/kagzi/engine", name + ".java");
      tests.append(Files.readString(file));
    }

    assertThat(Arrays.stream(WaitCause.Code.values()))
        .allMatch(code -> tests.toString().matches("(?s).*\\bCode\\." + code + "\\b.*"));
  }
}
