package dev.kagzi.embedded;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * The jars of the server, unpacked once per user. The folder's name contains the checksum of all of
 * them: versions coexist, and an existing folder is never written again.
 */
final class ServerJars {
  private static final String FOLDER = "/META-INF/kagzi/server/";

  private ServerJars() {}

  /**
   * Returns the jars.
   *
   * @throws EmbeddedServerException if they cannot be unpacked
   */
  static List<URL> unpacked() {
    Path cache = cache();
    try (InputStream index = ServerJars.class.getResourceAsStream(FOLDER + "index")) {
      if (index == null) {
        return ofBuild();
      }
      List<URL> packed = packed(new String(index.readAllBytes(), StandardCharsets.UTF_8).strip());
      Path folder = cache.resolve("server-" + fingerprint(packed));
      if (!Files.isDirectory(folder)) {
        unpack(packed, cache, folder);
      }
      List<URL> jars = new ArrayList<>();
      for (URL jar : packed) {
        jars.add(folder.resolve(name(jar)).toUri().toURL());
      }
      return jars;
    } catch (IOException e) {
      throw new EmbeddedServerException(
          "cannot unpack the server into " + cache + ": " + e + " (set XDG_CACHE_HOME to move it)",
          e);
    }
  }

  /**
   * Before this module is packaged, its classes are in a folder of the build. A file beside that
   * folder names the class path of the server.
   */
  private static List<URL> ofBuild() throws IOException {
    URL here = ServerJars.class.getProtectionDomain().getCodeSource().getLocation();
    Path classPath = Path.of(URI.create(here.toString())).resolveSibling("server-class-path");
    List<URL> jars = new ArrayList<>();
    for (String jar : Files.readString(classPath).strip().split(File.pathSeparator)) {
      jars.add(Path.of(jar).toUri().toURL());
    }
    return jars;
  }

  private static List<URL> packed(String index) throws IOException {
    List<URL> jars = new ArrayList<>();
    for (String path : index.split(":")) {
      String name = path.substring(path.lastIndexOf('/') + 1);
      URL jar = ServerJars.class.getResource(FOLDER + name);
      if (jar == null) {
        throw new IOException(name + " is missing (expected: all jars of the index)");
      }
      jars.add(jar);
    }
    return jars;
  }

  private static String name(URL jar) {
    String path = jar.getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private static String fingerprint(List<URL> jars) throws IOException {
    CRC32 all = new CRC32();
    for (URL jar : jars) {
      all.update((name(jar) + ":" + crc(jar) + "\n").getBytes(StandardCharsets.UTF_8));
    }
    return String.format(Locale.ROOT, "%08x", all.getValue());
  }

  /** A jar stores the checksums of its entries; only plain files must be read. */
  private static long crc(URL jar) throws IOException {
    URLConnection connection = jar.openConnection();
    if (connection instanceof JarURLConnection inJar) {
      return inJar.getJarEntry().getCrc();
    }
    CRC32 crc = new CRC32();
    try (InputStream in = connection.getInputStream()) {
      crc.update(in.readAllBytes());
    }
    return crc.getValue();
  }

  private static void unpack(List<URL> jars, Path cache, Path folder) throws IOException {
    Files.createDirectories(cache);
    Path fresh = Files.createDirectory(cache.resolve(".unpacking-server-" + UUID.randomUUID()));
    for (URL jar : jars) {
      try (InputStream in = jar.openStream()) {
        Files.copy(in, fresh.resolve(name(jar)));
      }
    }
    try {
      Files.move(fresh, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      // Another process was faster: its files are the same.
      delete(fresh);
      if (!Files.isDirectory(folder)) {
        throw e;
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static Path cache() {
    String set = System.getenv("XDG_CACHE_HOME");
    boolean isMac = System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("mac");
    Path caches =
        // The XDG specification requires to ignore relative paths.
        set != null && set.startsWith("/")
            ? Path.of(set)
            : Path.of(System.getProperty("user.home", "/"), isMac ? "Library/Caches" : ".cache");
    return caches.resolve("kagzi").toAbsolutePath();
  }
}
