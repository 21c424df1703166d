package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Rules for the log lines of engine, server and command line: a line about a run, a worker, a queue
 * or a schedule has its id as a key-value, and key-values do not take the names that the JSON
 * format uses itself.
 */
class LogKeysTest {
  private static final List<Path> SOURCES =
      List.of(
          Path.of("../kagzi-engine/src/main/java"),
          Path.of("src/main/java"),
          Path.of("../kagzi-cli/src/main/java"));

  private static final Pattern CALL =
      Pattern.compile("\\.at(?:Error|Warn|Info|Debug|Level)\\((?:[^;]|;(?=[^\\n]*\"))*?;");
  private static final Pattern KEY = Pattern.compile("addKeyValue\\(\\s*\"(\\w+)\"");
  private static final Pattern MESSAGE = Pattern.compile("\\.log\\((.*)\\);", Pattern.DOTALL);
  private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

  /** Singular only: a line about many runs has their number. */
  private static final Pattern SUBJECT = Pattern.compile("\\b(run|worker|queue|schedule)\\b");

  private static final Set<String> RESERVED = Set.of("time", "level", "logger", "message", "stack");

  /** The slot made no run, so there is no id; the external id leads to the other one. */
  private static final String NO_RUN =
      "a slot made no run: another run that is active has its external id";

  /** Returns what is wrong with a log call; empty if nothing is. */
  private static List<String> faults(String call) {
    String message =
        MESSAGE.matcher(call).results().map(found -> texts(found.group(1))).findFirst().orElse("");
    Set<String> keys =
        KEY.matcher(call).results().map(key -> key.group(1)).collect(Collectors.toSet());
    List<String> faults = new ArrayList<>();
    if (!message.equals(NO_RUN)) {
      Set<String> subjects = new TreeSet<>();
      SUBJECT.matcher(message).results().forEach(subject -> subjects.add(subject.group()));
      subjects.removeAll(keys);
      subjects.forEach(subject -> faults.add("no key " + subject + ": " + message));
    }
    keys.stream()
        .filter(RESERVED::contains)
        .forEach(key -> faults.add("reserved key " + key + ": " + message));
    return faults;
  }

  private static String texts(String expression) {
    return TEXT.matcher(expression)
        .results()
        .map(text -> text.group(1))
        .collect(Collectors.joining());
  }

  private static List<String> calls(Path file) {
    try {
      return CALL.matcher(Files.readString(file)).results().map(MatchResult::group).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void every_line_about_a_run_a_worker_a_queue_or_a_schedule_has_its_id() throws IOException {
    List<String> calls = new ArrayList<>();
    for (Path folder : SOURCES) {
      try (Stream<Path> files = Files.walk(folder)) {
        files
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(file -> calls.addAll(calls(file)));
      }
    }

    assertThat(calls).as("log calls found").hasSizeGreaterThan(30);
    assertThat(calls.stream().flatMap(call -> faults(call).stream())).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ".atWarn().log(\"worker is offline\");",
        ".atInfo().addKeyValue(\"worker\", 1).log(\"the run of a worker ended\");",
        ".atInfo().addKeyValue(\"message\", 1).log(\"failed\");",
      })
  void a_call_that_breaks_a_rule_is_found(String call) {
    assertThat(faults(call)).isNotEmpty();
  }
}
