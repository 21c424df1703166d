package dev.kagzi.cli;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.Payload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Reads {@code --input}: JSON, or a file with JSON. */
final class JsonInput {
  private static final int SHOWN_MAX = 100;

  private JsonInput() {}

  static Payload read(RemoteCommand command, String text) {
    byte[] json =
        text.startsWith("@")
            ? contents(command, text.substring(1))
            : text.getBytes(StandardCharsets.UTF_8);
    if (!MessageJson.isJson(json)) {
      throw command.usageError(
          "--input",
          text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…",
          "JSON, such as 42, '\"text\"' or '{\"a\": 1}', or @FILE with JSON in it");
    }
    return Payload.newBuilder().setData(ByteString.copyFrom(json)).build();
  }

  private static byte[] contents(RemoteCommand command, String file) {
    try {
      return Files.readAllBytes(Path.of(file));
    } catch (IOException | InvalidPathException e) {
      throw command.usageError("--input", "@" + file, "a file that can be read");
    }
  }
}
