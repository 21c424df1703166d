package dev.kagzi.server.web.runs;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/** Ids of many runs as one value of a form: 22 characters for each. */
final class RunIdList {
  private static final int ID_BYTES = 16;

  private RunIdList() {}

  static String encode(List<RunId> runs) {
    ByteBuffer bytes = ByteBuffer.allocate(runs.size() * ID_BYTES);
    for (RunId run : runs) {
      bytes.putLong(run.value().getMostSignificantBits());
      bytes.putLong(run.value().getLeastSignificantBits());
    }
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
  }

  static List<RunId> decode(String text) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(text));
      List<RunId> runs = new ArrayList<>(bytes.remaining() / ID_BYTES);
      while (bytes.remaining() >= ID_BYTES) {
        runs.add(new RunId(new UUID(bytes.getLong(), bytes.getLong())));
      }
      return runs;
    } catch (IllegalArgumentException e) {
      throw Refusal.invalid("runs", "not readable", "the value of the form");
    }
  }
}
