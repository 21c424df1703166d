package dev.kagzi.server.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Style sheet, scripts and icon, read from the class path when they are first requested. The set is
 * fixed, so no request can name another file. Thread-safe.
 */
final class Assets {
  private static final Map<String, String> TYPES =
      Map.of(
          "kagzi.css", "text/css; charset=utf-8",
          "kagzi.js", "text/javascript; charset=utf-8",
          "htmx.js", "text/javascript; charset=utf-8",
          "icon.svg", "image/svg+xml");
  private static final int HASH_CHARS = 16;

  private final Map<String, Asset> loaded = new ConcurrentHashMap<>();

  @SuppressWarnings("ArrayRecordComponent") // Never compared, and never changed.
  record Asset(String contentType, String hash, byte[] content) {}

  Optional<Asset> find(String name) {
    return TYPES.containsKey(name)
        ? Optional.of(loaded.computeIfAbsent(name, Assets::load))
        : Optional.empty();
  }

  private static Asset load(String name) {
    String path =
        name.equals("htmx.js")
            ? "/META-INF/resources/webjars/htmx.org/" + htmxVersion() + "/dist/htmx.min.js"
            : "/dev/kagzi/server/web/" + name;
    byte[] content = read(path);
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      String hash = HexFormat.of().formatHex(digest).substring(0, HASH_CHARS);
      return new Asset(TYPES.getOrDefault(name, ""), hash, content);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String htmxVersion() {
    Properties versions = new Properties();
    try {
      versions.load(new java.io.ByteArrayInputStream(read("/dev/kagzi/server/web/web.properties")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return versions.getProperty("htmx", "");
  }

  private static byte[] read(String path) {
    try (InputStream in = Assets.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("resource: " + path + " (expected: on the class path)");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
