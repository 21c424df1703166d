package dev.kagzi.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The external condition that makes runs fail until the client repairs it. All processes share it:
 * a file for each run whose condition is repaired. Thread-safe.
 */
record Repairs(Path folder) {
  static Repairs in(Path folder) {
    try {
      return new Repairs(Files.createDirectories(folder.resolve("repaired")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void repair(String input) {
    try {
      Files.writeString(folder.resolve(input), "");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isRepaired(String input) {
    return Files.exists(folder.resolve(input));
  }
}
