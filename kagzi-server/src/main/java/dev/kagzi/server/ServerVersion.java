package dev.kagzi.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

final class ServerVersion {
  private static final String RESOURCE = "build.properties";

  private ServerVersion() {}

  static String read() {
    Properties build = new Properties();
    try (InputStream in = ServerVersion.class.getResourceAsStream(RESOURCE)) {
      if (in != null) {
        build.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return build.getProperty("version", "unknown");
  }
}
