package dev.kagzi.torture;

import java.io.IOException;
import java.util.List;

/** Signals of the operating system. */
enum UnixSignal {
  /** Kills the process; it cannot react. */
  KILL,
  /** Pauses the process; it cannot react. */
  STOP,
  /** Continues a paused process. */
  CONT,
  /** Makes a Java process print a thread dump. */
  QUIT;

  void send(long pid) {
    try {
      int exit =
          new ProcessBuilder(List.of("kill", "-" + name(), Long.toString(pid)))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor();
      if (exit != 0) {
        throw new TortureException("kill -" + name() + " " + pid + ": exit code " + exit);
      }
    } catch (IOException e) {
      throw new TortureException("cannot send a signal: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }
}
