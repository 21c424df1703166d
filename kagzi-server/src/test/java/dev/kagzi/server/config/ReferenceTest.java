package dev.kagzi.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of options in the documentation matches the options in the code. */
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
            option.defaultValue().isEmpty() ? "-" : "`" + option.defaultValue() + "`",
            option.type().unit().isEmpty() ? "-" : option.type().unit(),
            option.type().range().isEmpty() ? "-" : option.type().range(),
            option.description());
  }
}
