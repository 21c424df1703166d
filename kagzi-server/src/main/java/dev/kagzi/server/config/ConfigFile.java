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
 * What a file of properties says.
 *
 * @param path where it is; empty if there is none
 * @param entries by key
 */
public record ConfigFile(String path, Map<String, String> entries) {
  /** What is read from the working directory when no file is named. */
  public static final String DEFAULT_NAME = "kagzi.properties";

  public ConfigFile {
    entries = Map.copyOf(entries);
  }

  /** No file. */
  public static ConfigFile none() {
    return new ConfigFile("", Map.of());
  }

  /** The named file, which must be there; else the one in the directory, if it is there. */
  public static ConfigFile find(@Nullable Path named, Path directory) {
    if (named != null) {
      return read(named);
    }
    Path usual = directory.resolve(DEFAULT_NAME);
    return Files.exists(usual) ? read(usual) : none();
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

  /** Refuses a key that nobody knows. */
  void check() {
    for (String key : new TreeMap<>(entries).keySet()) {
      if (ServerOption.byKey(key).isEmpty()) {
        throw new SettingsException(
            "%s: no such key in %s (expected: %s)"
                .formatted(
                    key, path, DidYouMean.to(key, ServerOption.keys()).orElse(Settings.ANY_KNOWN)));
      }
    }
  }
}
