package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.LedgerEntry.Moment;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * A file to which one process appends its events. A line is one write of the operating system: once
 * the write has returned, killing the process cannot undo it. Thread-safe.
 */
final class Ledger implements AutoCloseable {
  private static final String SUFFIX = ".ledger";

  // Not a channel, which an interrupt of the writing thread would close.
  private final FileOutputStream file;
  private final ReentrantLock lock = new ReentrantLock();
  private final Clock clock = Clock.systemUTC();

  private Ledger(FileOutputStream file) {
    this.file = file;
  }

  static Ledger open(Path folder, String process) {
    try {
      return new Ledger(new FileOutputStream(folder.resolve(process + SUFFIX).toFile(), true));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void write(Event event, String runId, Author author, String step, int attempt, String value) {
    lock.lock();
    try {
      LedgerEntry entry = new LedgerEntry(event, runId, author, step, attempt, value, now());
      file.write((entry.line() + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  private Moment now() {
    return new Moment(System.nanoTime(), ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()));
  }

  @Override
  public void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns all entries of all ledgers in the folder; those of one process are in order. */
  static List<LedgerEntry> readAll(Path folder) {
    List<LedgerEntry> entries = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path path : files.filter(each -> each.toString().endsWith(SUFFIX)).sorted().toList()) {
        read(path, entries);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return entries;
  }

  // Ignores an incomplete last line: the process was killed while it wrote.
  private static void read(Path path, List<LedgerEntry> entries) throws IOException {
    String text = Files.readString(path);
    int whole = text.lastIndexOf('\n') + 1;
    text.substring(0, whole).lines().map(LedgerEntry::parse).forEach(entries::add);
  }
}
