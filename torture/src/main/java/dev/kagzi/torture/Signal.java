package dev.kagzi.torture;

import java.io.IOException;
import java.util.List;

/** What the operating system does to a process. */
enum Signal {
  /** Ends it at once; it hears nothing of it. */
  KILL,
  /** Stops it where it is; it hears nothing of it. */
  STOP,
  /** Lets a stopped one go on. */
  CONT,
  /** Has a Java process write down what its threads do. */
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
