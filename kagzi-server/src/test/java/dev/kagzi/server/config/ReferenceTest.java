package dev.kagzi.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of options in the documentation is the list of options in the code. */
class ReferenceTest {
  private static final Path REFERENCE = Path.of("../docs/reference.md");

  @Test
  void the_reference_has_a_row_for_each_option_as_it_is() throws Exception {
    List<String> expected = Arrays.stream(ServerOption.values()).map(ReferenceTest::row).toList();

    List<String> rows =
        Files.readAllLines(REFERENCE).stream()
            .dropWhile(line -> !line.startsWith("| key |"))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .toList();

    assertThat(rows).containsExactlyElementsOf(expected);
  }

  private static String row(ServerOption option) {
    return "| `%s` | %s | `%s` | %s | %s | %s | %s |"
        .formatted(
            option.key(),
            option.flag().map(flag -> "`" + flag + "`").orElse("-"),
            option.variable(),
            option.fallback().isEmpty() ? "-" : "`" + option.fallback() + "`",
            option.kind().unit().isEmpty() ? "-" : option.kind().unit(),
            option.kind().range().isEmpty() ? "-" : option.kind().range(),
            option.meaning());
  }
}
