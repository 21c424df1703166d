package dev.kagzi.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The operating system user that runs PostgreSQL, which refuses to run as root. If the current user
 * is root, PostgreSQL runs in a user namespace of Linux: there its user id is not 0, but its files
 * belong to root. If the kernel does not allow that, it runs as the user nobody.
 *
 * @param prefix precedes each command of PostgreSQL
 * @param uid owner of the data directory; -1 for the current user
 */
record Account(List<String> prefix, int uid) {

  private static final int NOBODY = 65534;

  private static final class Holder {
    static final Account CURRENT = find();
  }

  /** Returns the account, which is determined once per JVM. */
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
      throw new EmbeddedPostgresException("cannot determine the current user: " + e, e);
    }
  }

  /** Returns whether the server runs as nobody, who cannot enter root's home directory. */
  boolean isNobody() {
    return uid == NOBODY;
  }

  List<String> command(List<String> command) {
    return Command.join(prefix, command);
  }

  /** Gives the directory and its content to the server's user. */
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
