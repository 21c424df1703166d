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
  void the_list_of_errors_has_each_reason_for_which_a_run_is_blocked_and_no_other()
      throws IOException {
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
