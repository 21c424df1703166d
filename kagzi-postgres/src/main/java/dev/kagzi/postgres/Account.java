package dev.kagzi.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * As whom PostgreSQL runs. It refuses to run as root, so root's server runs in a user namespace
 * where nobody is root (its files stay root's), or, where the kernel does not allow that, as the
 * user nobody.
 *
 * @param prefix goes before each command of PostgreSQL
 * @param uid who owns the data directory; -1 when there is nothing to choose
 */
record Account(List<String> prefix, int uid) {

  private static final int NOBODY = 65534;

  private static final class Holder {
    static final Account CURRENT = find();
  }

  /** Found out once per JVM. */
  static Account current() {
    return Holder.CURRENT;
  }

  private static Account find() {
    if (!isRoot()) {
      return new Account(List.of(), -1);
    }
    if (Command.succeeds(List.of("unshare", "-U", "true"))) {
      return new Account(List.of("unshare", "-U", "--"), 0);
    }
    List<String> nobody =
        List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
    if (Command.succeeds(Command.join(nobody, List.of("true")))) {
      return new Account(nobody, NOBODY);
    }
    throw new EmbeddedPostgresException(
        "PostgreSQL does not run as root, and neither unshare nor setpriv works here"
            + " (expected: another user, or a database of your own)");
  }

  private static boolean isRoot() {
    try {
      Path self = Path.of("/proc/self");
      return Files.exists(self)
          ? Integer.valueOf(0).equals(Files.getAttribute(self, "unix:uid"))
          : "root".equals(System.getProperty("user.name"));
    } catch (IOException e) {
      throw new EmbeddedPostgresException("cannot find out who we are: " + e, e);
    }
  }

  /** Whether root's server has to live outside of root's home, which nobody may enter. */
  boolean isNobody() {
    return uid == NOBODY;
  }

  List<String> command(List<String> command) {
    return Command.join(prefix, command);
  }

  /** Makes the directory and all in it belong to the server's user. */
  void own(Path directory) throws IOException {
    if (uid < 0) {
      return;
    }
    if (!isOwned(directory) || !isOwned(directory.resolve(ServerDirectory.DATA))) {
      Command.succeeds(List.of("chown", "-R", uid + ":" + uid, directory.toString()));
    }
    if (!Command.succeeds(command(List.of("test", "-w", directory.toString())))) {
      throw new EmbeddedPostgresException(
          "data directory "
              + directory
              + " cannot be written by user "
              + uid
              + ", as which PostgreSQL runs for root (expected: a directory outside of /root)");
    }
  }

  private boolean isOwned(Path path) throws IOException {
    return Files.exists(path) && Integer.valueOf(uid).equals(Files.getAttribute(path, "unix:uid"));
  }
}
