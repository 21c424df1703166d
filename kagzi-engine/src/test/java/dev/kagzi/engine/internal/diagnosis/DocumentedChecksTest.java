package dev.kagzi.engine.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.diagnosis.Check;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DocumentedChecksTest {

  /** The checks that the command line makes itself. */
  private static final List<String> OF_THE_CLIENT = List.of("SERVER", "VERSION");

  @Test
  void the_documented_checks_are_those_that_are_made() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/tools.md")).stream()
            .dropWhile(line -> !line.startsWith("| check |"))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .map(row -> row.replaceFirst("^\\| `([A-Z_]+)` \\|.*", "$1"))
            .toList();

    assertThat(rows)
        .containsExactlyElementsOf(
            Stream.concat(OF_THE_CLIENT.stream(), Arrays.stream(Check.values()).map(Enum::name))
                .toList());
  }
}
