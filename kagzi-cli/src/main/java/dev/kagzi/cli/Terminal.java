package dev.kagzi.cli;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The terminal of this process, if it has one. */
final class Terminal {
  private static final File TTY = new File("/dev/tty");
  private static final Size USUAL = new Size(24, 80);

  private Terminal() {}

  record Size(int rows, int columns) {}

  /** The standard streams with their file descriptors. */
  enum Stream {
    IN(0),
    OUT(1),
    ERR(2);

    private final int descriptor;

    Stream(int descriptor) {
      this.descriptor = descriptor;
    }
  }

  /**
   * Returns whether all these streams are a terminal. Pass the streams that the command reads or
   * writes.
   */
  static boolean has(Stream... streams) {
    StringBuilder test = new StringBuilder("true");
    for (Stream stream : streams) {
      test.append(" && [ -t ").append(stream.descriptor).append(" ]");
    }
    try {
      return new ProcessBuilder("sh", "-c", test.toString()).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns the size of the terminal; 24 rows of 80 columns if it is not known. */
  static Size size() {
    String[] numbers = stty("size").strip().split(" ", -1);
    try {
      int rows = Integer.parseInt(numbers[0]);
      int columns = Integer.parseInt(numbers[1]);
      return rows > 0 && columns > 0 ? new Size(rows, columns) : USUAL;
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return USUAL;
    }
  }

  /** Returns what stty prints; empty if there is no terminal or no stty. */
  private static String stty(String... arguments) {
    String[] command = new String[arguments.length + 1];
    command[0] = "stty";
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    try {
      Process stty =
          new ProcessBuilder(command).redirectInput(TTY).redirectError(Redirect.DISCARD).start();
      String printed = new String(stty.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return stty.waitFor() == 0 ? printed : "";
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }

  /**
   * Waits for the key q. On a terminal a key counts at once, without Enter, until this is closed or
   * the JVM ends.
   */
  static final class QuitKey implements AutoCloseable {
    private final CountDownLatch pressed = new CountDownLatch(1);
    private final Thread restoreAtEnd = new Thread(this::restore);
    private String settings = "";

    static QuitKey ofTerminal() {
      QuitKey key = new QuitKey(System.in);
      key.readWithoutEnter();
      return key;
    }

    private synchronized void readWithoutEnter() {
      settings = stty("-g").strip();
      if (!settings.isEmpty()) {
        Runtime.getRuntime().addShutdownHook(restoreAtEnd);
        stty("-icanon", "-echo", "min", "1");
      }
    }

    QuitKey(InputStream keys) {
      Thread.ofPlatform().daemon().name("kagzi-keys").start(() -> read(keys));
    }

    private void read(InputStream keys) {
      try {
        for (int key = keys.read(); key >= 0; key = keys.read()) {
          if (key == 'q' || key == 'Q') {
            pressed.countDown();
          }
        }
      } catch (IOException e) {
        // Without keys, Ctrl-C still ends the program.
      }
    }

    /** Returns whether the key was pressed, or the thread interrupted, within the time. */
    boolean isPressedWithin(long ms) {
      try {
        return pressed.await(ms, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return true;
      }
    }

    /** Restores the settings of the terminal. Returns whether they had been changed. */
    private synchronized boolean restore() {
      boolean changed = !settings.isEmpty();
      if (changed) {
        stty(settings);
        settings = "";
      }
      return changed;
    }

    @Override
    public void close() {
      if (restore()) {
        try {
          Runtime.getRuntime().removeShutdownHook(restoreAtEnd);
        } catch (IllegalStateException ending) {
          // The JVM ends: the hook runs or has run.
        }
      }
    }
  }
}
