package dev.kagzi.postgres;

import java.nio.file.Path;
import java.util.Locale;

/** The directories of a user's files on this operating system. */
final class UserDirs {

  private UserDirs() {}

  /** Returns the directory for files that can be recreated. */
  static Path cache(Account account) {
    if (account.isNobody()) {
      return Path.of("/var/cache/kagzi");
    }
    return xdg("XDG_CACHE_HOME", isMac() ? "Library/Caches" : ".cache").resolve("kagzi");
  }

  /** Returns the directory for files that must not be lost. */
  static Path data(Account account) {
    if (account.isNobody()) {
      return Path.of("/var/lib/kagzi");
    }
    return xdg("XDG_DATA_HOME", ".local/share").resolve("kagzi");
  }

  static boolean isMac() {
    return osName().startsWith("mac");
  }

  static String osName() {
    return System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
  }

  private static Path xdg(String variable, String underHome) {
    String set = System.getenv(variable);
    // The XDG specification requires to ignore relative paths.
    if (set != null && set.startsWith("/")) {
      return Path.of(set);
    }
    return Path.of(System.getProperty("user.home", "/")).resolve(underHome).toAbsolutePath();
  }
}
