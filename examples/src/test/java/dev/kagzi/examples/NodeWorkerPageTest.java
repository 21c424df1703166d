package dev.kagzi.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The documentation shows exactly the worker that the build runs. */
class NodeWorkerPageTest {
  private static final Pattern CODE = Pattern.compile("```js\\n(.*?)```\\n", Pattern.DOTALL);

  @Test
  void the_page_shows_the_worker_that_the_build_runs() throws IOException {
    String page = Files.readString(NodeWorker.ROOT.resolve("docs/workers-in-other-languages.md"));
    Matcher shown = CODE.matcher(page);

    assertThat(shown.results().map(block -> block.group(1)))
        .containsExactly(Files.readString(NodeWorker.SOURCES.resolve("worker.mjs")));
  }

  @Test
  void the_worker_has_fewer_than_150_lines() throws IOException {
    assertThat(Files.readAllLines(NodeWorker.SOURCES.resolve("worker.mjs")))
        .hasSizeLessThan(150)
        .allSatisfy(line -> assertThat(line).hasSizeLessThan(115));
  }

  @Test
  void the_lock_file_fixes_every_version_by_its_hash_and_names_no_registry() throws IOException {
    String lock = Files.readString(NodeWorker.SOURCES.resolve("package-lock.json"));

    assertThat(lock).contains("\"integrity\": \"sha512-").doesNotContain("\"resolved\"");
  }
}
