package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every Java block in the documentation is a region of a test's source file here, which the build
 * compiles and whose workflows it runs. A region begins with a line {@code // docs: failure.md} and
 * ends with {@code // end}. White space is not compared, so that documents may lay out their lines
 * by hand.
 */
class DocumentedCodeTest {
  private static final Path ROOT = Path.of("..");
  private static final Path SOURCES = Path.of("src/test/java");
  private static final String BEGIN = "// docs: ";
  private static final String END = "// end";

  private record Code(String document, String text) {
    @Override
    public String toString() {
      return document + ":\n" + text;
    }

    Code compared() {
      return new Code(document, text.replaceAll("\\s+", ""));
    }
  }

  @Test
  void every_java_block_is_a_region_that_is_compiled_and_run() throws IOException {
    List<Code> regions = regions().stream().map(Code::compared).toList();

    assertThat(blocks()).hasSizeGreaterThan(20);
    assertThat(blocks().stream().filter(block -> !regions.contains(block.compared())))
        .as("blocks of code in documents that are no region of a file in " + SOURCES)
        .isEmpty();
  }

  @Test
  void every_region_is_a_block_of_its_document() throws IOException {
    List<Code> blocks = blocks().stream().map(Code::compared).toList();

    assertThat(regions().stream().filter(region -> !blocks.contains(region.compared())))
        .as("regions in " + SOURCES + " that are no block of code in their document")
        .isEmpty();
  }

  private static List<Code> blocks() throws IOException {
    List<Code> blocks = new ArrayList<>();
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.list(ROOT.resolve("docs"))) {
      for (Path document : Stream.concat(top, docs).toList()) {
        String name = document.getFileName().toString();
        if (name.endsWith(".md")) {
          blocks.addAll(read(document, line -> line.equals("```java") ? name : null, "```"));
        }
      }
    }
    return blocks;
  }

  private static List<Code> regions() throws IOException {
    List<Code> regions = new ArrayList<>();
    try (Stream<Path> sources = Files.walk(SOURCES)) {
      for (Path source : sources.filter(Files::isRegularFile).toList()) {
        regions.addAll(
            read(
                source,
                line -> line.startsWith(BEGIN) ? line.substring(BEGIN.length()) : null,
                END));
      }
    }
    return regions;
  }

  /**
   * @param beginning the document whose code begins behind the line; null for other lines
   */
  private static List<Code> read(Path file, UnaryOperator<String> beginning, String end)
      throws IOException {
    List<Code> found = new ArrayList<>();
    String document = null;
    StringBuilder text = new StringBuilder();
    for (String line : Files.readAllLines(file)) {
      if (document == null) {
        document = beginning.apply(line.strip());
        text.setLength(0);
      } else if (line.strip().equals(end)) {
        found.add(new Code(document, text.toString()));
        document = null;
      } else {
        text.append(line).append('\n');
      }
    }
    assertThat(document).as("code without an end in " + file).isNull();
    return found;
  }
}
