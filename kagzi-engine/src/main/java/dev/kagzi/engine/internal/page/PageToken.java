package dev.kagzi.engine.internal.page;

import dev.kagzi.engine.value.Refusal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.zip.CRC32;

/**
 * A direction and a position to continue from, as an opaque text. It contains a checksum over the
 * position and over the list with its filters. So a token of another list is refused instead of
 * returning wrong rows.
 */
record PageToken(Direction direction, Cursor cursor) {
  static final String EXPECTED = "a token of this list, asked for with the same filters";

  private static final int LENGTH_MAX = 8_192;

  enum Direction {
    NEXT("next:"),
    PREV("prev:");

    private final String prefix;

    Direction(String prefix) {
      this.prefix = prefix;
    }
  }

  /** {@code list} identifies the list: its kind, its namespace and its filters. */
  String encode(String list) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(sum(list, cursor.key()));
      for (String part : cursor.key()) {
        out.writeUTF(part);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return direction.prefix
        + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.toByteArray());
  }

  /** Refuses a token that {@link #encode} did not write for the same list. */
  static PageToken parse(String token, String list) {
    if (token.length() > LENGTH_MAX) {
      throw Refusal.invalid("page_token", token, EXPECTED);
    }
    Direction direction = token.startsWith(Direction.PREV.prefix) ? Direction.PREV : Direction.NEXT;
    // A token without a prefix leads forward.
    String body = token.startsWith(direction.prefix) ? token.substring(5) : token;
    List<String> key = new ArrayList<>();
    try (DataInputStream in =
        new DataInputStream(new ByteArrayInputStream(Base64.getUrlDecoder().decode(body)))) {
      int sum = in.readInt();
      while (in.available() > 0) {
        key.add(in.readUTF());
      }
      if (sum == sum(list, key)) {
        return new PageToken(direction, new Cursor(key));
      }
    } catch (IOException | IllegalArgumentException notOurs) {
      // Refused below, like a token of another list.
    }
    throw Refusal.invalid("page_token", token, EXPECTED);
  }

  private static int sum(String list, List<String> key) {
    CRC32 crc = new CRC32();
    crc.update(list.getBytes(StandardCharsets.UTF_8));
    for (String part : key) {
      crc.update(0);
      crc.update(part.getBytes(StandardCharsets.UTF_8));
    }
    return (int) crc.getValue();
  }
}
