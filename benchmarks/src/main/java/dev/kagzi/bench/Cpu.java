package dev.kagzi.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** Processor time from {@code /proc}, in seconds; empty on systems without it. */
final class Cpu {
  private static final Path PROC = Path.of("/proc");
  private static final double TICKS_PER_SECOND = 100;

  private Cpu() {}

  /** The time that a process has used so far. */
  static OptionalDouble of(long pid) {
    try {
      return OptionalDouble.of(Stat.read(pid).own());
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }

  /** The time that the JIT compilers of a JVM have used so far. */
  static OptionalDouble ofCompilers(long pid) {
    double sum = 0;
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(PROC.resolve(pid + "/task"), "[0-9]*")) {
      for (Path thread : threads) {
        if (Files.readString(thread.resolve("comm")).contains(" Compiler")) {
          sum += Stat.read(thread).own();
        }
      }
      return OptionalDouble.of(sum);
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }

  /** The time that a process and its children have used so far, ended children included. */
  static OptionalDouble ofFamily(long parent) {
    try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROC, "[0-9]*")) {
      double sum = Stat.read(parent).withEnded();
      for (Path process : processes) {
        sum += ofChild(parent, Long.parseLong(process.getFileName().toString()));
      }
      return OptionalDouble.of(sum);
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }

  private static double ofChild(long parent, long pid) {
    try {
      Stat stat = Stat.read(pid);
      return stat.parent() == parent ? stat.own() : 0;
    } catch (IOException ended) {
      return 0;
    }
  }

  /** The main process of the PostgreSQL of a session, if it runs on this machine. */
  static OptionalLong postmaster(long sessionPid) {
    try {
      String command = Files.readString(PROC.resolve(sessionPid + "/cmdline"));
      return command.startsWith("postgres:")
          ? OptionalLong.of(Stat.read(sessionPid).parent())
          : OptionalLong.empty();
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** The time that the whole machine has used so far, steal time included. */
  static OptionalDouble ofMachine() {
    try {
      String total = Files.readAllLines(PROC.resolve("stat")).getFirst();
      String[] fields = total.strip().split("\\s+");
      // user, nice, system, irq, softirq, steal: all but idle and waiting.
      double ticks = 0;
      for (int field : new int[] {1, 2, 3, 6, 7, 8}) {
        ticks += Double.parseDouble(fields[field]);
      }
      return OptionalDouble.of(ticks / TICKS_PER_SECOND);
    } catch (IOException e) {
      return OptionalDouble.empty();
    }
  }

  /** One process or thread in seconds: its own time, and with children that have ended. */
  private record Stat(long parent, double own, double withEnded) {

    static Stat read(long pid) throws IOException {
      return read(PROC.resolve(Long.toString(pid)));
    }

    static Stat read(Path folder) throws IOException {
      String line = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
      // The name in parentheses may contain anything; fields are counted behind it.
      String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
      double own = Double.parseDouble(fields[11]) + Double.parseDouble(fields[12]);
      double ended = Double.parseDouble(fields[13]) + Double.parseDouble(fields[14]);
      return new Stat(
          Long.parseLong(fields[1]), own / TICKS_PER_SECOND, (own + ended) / TICKS_PER_SECOND);
    }
  }
}
