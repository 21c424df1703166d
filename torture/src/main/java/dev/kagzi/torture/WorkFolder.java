package dev.kagzi.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The folder of a torture test: ledgers, logs, and PostgreSQL's data. */
record WorkFolder(Path folder) {
  private static final String POSTGRES = "postgres";

  static WorkFolder create() {
    try {
      return new WorkFolder(Files.createTempDirectory("kagzi-torture-"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Keeps what explains a failure: deletes the database, but keeps its log and the dumped tables.
   */
  void keepEvidence() {
    Path data = folder.resolve(POSTGRES);
    try {
      Path log = data.resolve("postgres.log");
      if (Files.exists(log)) {
        Files.copy(log, folder.resolve("postgres.log"), StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    delete(data);
  }

  void delete() {
    delete(folder);
  }

  private static void delete(Path root) {
    try (Stream<Path> all = Files.walk(root)) {
      List<Path> inside = all.sorted(Comparator.reverseOrder()).toList();
      for (Path path : inside) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
