package dev.kagzi.sdk.internal.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlockReasonTest {

  @Test
  void the_documentation_lists_exactly_the_reasons_why_a_run_is_blocked() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("../docs/errors.md")).stream()
            .dropWhile(line -> !line.equals("## Why a run is blocked"))
            .dropWhile(line -> !line.startsWith("|---"))
            .skip(1)
            .takeWhile(line -> line.startsWith("|"))
            .toList();

    assertThat(rows)
        .extracting(row -> row.replaceFirst("^\\| `([A-Z_]+)` .*", "$1"))
        .containsExactlyElementsOf(Arrays.stream(BlockReason.values()).map(Enum::name).toList());
  }
}
