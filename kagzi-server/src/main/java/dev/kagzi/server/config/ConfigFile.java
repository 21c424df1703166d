package dev.kagzi.server.config;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The contents of a properties file.
 *
 * @param path where it is; empty if there is none
 */
public record ConfigFile(String path, Map<String, String> entries) {
  /** The file that is read from the working directory if no file is named. */
  public static final String DEFAULT_NAME = "kagzi.properties";

  public ConfigFile {
    entries = Map.copyOf(entries);
  }

  public static ConfigFile none() {
    return new ConfigFile("", Map.of());
  }

  /** Reads the named file, which must exist; without a name, the default file if it exists. */
  public static ConfigFile find(@Nullable Path named, Path directory) {
    if (named != null) {
      return read(named);
    }
    Path defaultFile = directory.resolve(DEFAULT_NAME);
    return Files.exists(defaultFile) ? read(defaultFile) : none();
  }

  private static ConfigFile read(Path file) {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new SettingsException(
          "--config: " + file + " (expected: a file of lines key=value that can be read)", e);
    }
    Map<String, String> entries = new TreeMap<>();
    properties.stringPropertyNames().forEach(key -> entries.put(key, properties.getProperty(key)));
    return new ConfigFile(file.toString(), entries);
  }

  /** Rejects unknown keys. */
  void check() {
    for (String key : new TreeMap<>(entries).keySet()) {
      if (ServerOption.byKey(key).isEmpty()) {
        throw new SettingsException(
            "%s: no such key in %s (expected: %s)"
                .formatted(
                    key,
                    path,
                    DidYouMean.suggest(key, ServerOption.keys()).orElse(Settings.ANY_KNOWN)));
      }
    }
  }
}
