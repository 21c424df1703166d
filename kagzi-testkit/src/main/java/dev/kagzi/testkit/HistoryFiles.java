package dev.kagzi.testkit;

import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.ReplayDiffersException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RunHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Replays history files, and throws a difference as {@link AssertionError}. */
final class HistoryFiles {
  private final Replayer replayer;

  HistoryFiles(Replayer replayer) {
    this.replayer = replayer;
  }

  void replay(Path file) {
    RunHistory history = RunHistory.read(file);
    try {
      replayer.replay(history);
    } catch (ReplayDiffersException e) {
      throw new AssertionError(file + ": " + e.getMessage(), e);
    } catch (InvalidArgumentException e) {
      throw e;
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          file
              + ": "
              + e.getMessage()
              + "; start a worker that serves it: env.worker().workflow(type, code).start()",
          e);
    }
  }

  void replayAll(Path folder) {
    List<Path> files = files(folder);
    if (files.isEmpty()) {
      throw new AssertionError(folder + ": no .json file (expected: at least one history)");
    }
    List<AssertionError> differences = new ArrayList<>();
    for (Path file : files) {
      try {
        replay(file);
      } catch (AssertionError e) {
        differences.add(e);
      }
    }
    if (!differences.isEmpty()) {
      AssertionError all =
          new AssertionError(
              "%d of %d histories differ:%n%s"
                  .formatted(
                      differences.size(),
                      files.size(),
                      differences.stream()
                          .map(Throwable::getMessage)
                          .collect(Collectors.joining(System.lineSeparator()))));
      differences.forEach(all::addSuppressed);
      throw all;
    }
  }

  private static List<Path> files(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("folder: " + folder + " cannot be read", e);
    }
  }
}
