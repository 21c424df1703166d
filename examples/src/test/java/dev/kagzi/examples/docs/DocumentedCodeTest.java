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
 * Every Java block in the documentation is a region of a test source file here or in the module of
 * Spring applications, which the build compiles and whose workflows it runs. A region begins with a
 * line {@code // docs: failure.md} and ends with {@code // end}. White space is not compared, so
 * that documents can break lines differently.
 */
class DocumentedCodeTest {
  private static final Path ROOT = Path.of("..");
  private static final List<Path> SOURCES =
      List.of(Path.of("src/test/java"), ROOT.resolve("compatibility/src/test/java"));
  private static final String BEGIN = "// docs: ";
  private static final String END = "// end";

  private record Code(String document, String text) {
    @Override
    public String toString() {
      return document + ":\n" + text;
    }

    Code withoutWhitespace() {
      return new Code(document, text.replaceAll("\\s+", ""));
    }
  }

  @Test
  void every_java_block_is_a_compiled_region() throws IOException {
    List<Code> regions = regions().stream().map(Code::withoutWhitespace).toList();

    assertThat(blocks()).hasSizeGreaterThan(20);
    assertThat(blocks().stream().filter(block -> !regions.contains(block.withoutWhitespace())))
        .as("Java blocks of documents without an equal region in " + SOURCES)
        .isEmpty();
  }

  @Test
  void every_region_is_a_block_of_its_document() throws IOException {
    List<Code> blocks = blocks().stream().map(Code::withoutWhitespace).toList();

    assertThat(regions().stream().filter(region -> !blocks.contains(region.withoutWhitespace())))
        .as("regions in " + SOURCES + " without an equal Java block in their document")
        .isEmpty();
  }

  private static List<Code> blocks() throws IOException {
    List<Code> blocks = new ArrayList<>();
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
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
    for (Path folder : SOURCES) {
      try (Stream<Path> sources = Files.walk(folder)) {
        for (Path source : sources.filter(Files::isRegularFile).toList()) {
          regions.addAll(
              read(
                  source,
                  line -> line.startsWith(BEGIN) ? line.substring(BEGIN.length()) : null,
                  END));
        }
      }
    }
    return regions;
  }

  /**
   * @param beginning returns the document if the line begins a block; null for other lines
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
    assertThat(document).as("code block without an end in " + file).isNull();
    return found;
  }
}
