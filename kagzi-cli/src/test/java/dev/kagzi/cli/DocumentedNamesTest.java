package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The types and members that ARCHITECTURE.md and docs/internals name exist. */
class DocumentedNamesTest {
  private static final Path ROOT = Path.of("..");

  /** {@code package.Type.member} or a part of it; only names of types with a package or member. */
  private static final Pattern NAME =
      Pattern.compile("`(?:([a-z]+)\\.)?([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?(?:\\(\\))?`");

  private static final Set<String> OTHERS =
      Set.of(
          "System",
          "V1__schema",
          "V2__headers",
          "V3__run_rates",
          "V4__signals",
          "V5__published_values",
          "V6__callbacks",
          "V7__chains",
          "V8__clean_up",
          "V10__list_indexes",
          "V11__generation",
          "V12__signal_requests",
          "V13__request_retries",
          "V9__start_requests");

  @Test
  void every_named_type_and_member_exists() throws IOException {
    Map<String, List<Path>> sources = sources();
    TreeSet<String> unknown = new TreeSet<>();
    int named = 0;
    for (Path page : pages()) {
      for (MatchResult name : NAME.matcher(Files.readString(page)).results().toList()) {
        if ((name.group(1) != null || name.group(3) != null) && !OTHERS.contains(name.group(2))) {
          named++;
          if (!exists(sources, name)) {
            unknown.add(page.getFileName() + ": " + name.group());
          }
        }
      }
    }

    assertThat(unknown).isEmpty();
    assertThat(named).isGreaterThan(200);
  }

  private static boolean exists(Map<String, List<Path>> sources, MatchResult name)
      throws IOException {
    for (Path source : sources.getOrDefault(name.group(2), List.of())) {
      boolean inPackage =
          name.group(1) == null || source.endsWith(Path.of(name.group(1), name.group(2) + ".java"));
      String member = name.group(3);
      if (inPackage
          && (member == null
              || Pattern.compile("\\b" + member + "\\b")
                  .matcher(Files.readString(source))
                  .find())) {
        return true;
      }
    }
    return false;
  }

  /** A word of the glossary that no source uses has been replaced by another one. */
  @Test
  void every_word_of_the_glossary_is_used_in_the_sources() throws IOException {
    String page = Files.readString(ROOT.resolve("ARCHITECTURE.md"));
    String glossary = page.substring(page.indexOf("\n## Glossary"));
    List<String> words =
        Pattern.compile("\\*\\*([^*]+)\\*\\*")
            .matcher(glossary)
            .results()
            .map(w -> w.group(1))
            .toList();
    StringBuilder sources = new StringBuilder();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file : files.filter(DocumentedNamesTest::isMainSource).toList()) {
        sources.append(asWords(Files.readString(file)));
      }
    }

    assertThat(words)
        .hasSizeGreaterThan(150)
        .allSatisfy(word -> assertThat(sources).containsPattern(inflected(word)));
  }

  private static boolean isMainSource(Path file) {
    return file.toString().contains("/src/main/")
        && file.toString().matches(".*\\.(?:java|sql|proto)");
  }

  /** "TaskQueue", "task-queue" and "task_queue" become "task queue". */
  private static String asWords(String text) {
    return text.replaceAll("(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", " ").toLowerCase(Locale.ROOT);
  }

  /** Also finds "retries" for "retry" and "handed over" for "hand over". */
  private static Pattern inflected(String word) {
    return Pattern.compile(
        "\\b"
            + Stream.of(asWords(word).trim().split(" ", -1))
                .map(part -> part.replaceFirst("[ey]$", "") + "\\w*")
                .collect(Collectors.joining(" ")));
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> internals = Files.list(ROOT.resolve("docs/internals"))) {
      return Stream.concat(Stream.of(ROOT.resolve("ARCHITECTURE.md")), internals).toList();
    }
  }

  /** The source files of all modules, by the name of the type. */
  private static Map<String, List<Path>> sources() throws IOException {
    Map<String, List<Path>> sources = new HashMap<>();
    try (Stream<Path> files = Files.walk(ROOT)) {
      for (Path file :
          files
              .filter(path -> path.toString().endsWith(".java"))
              .filter(path -> path.toString().contains("/src/"))
              .toList()) {
        String type = file.getFileName().toString().replace(".java", "");
        sources.merge(
            type, List.of(file), (a, b) -> Stream.concat(a.stream(), b.stream()).toList());
      }
    }
    return sources;
  }
}
