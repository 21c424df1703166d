package dev.kagzi.engine.internal.page;

import dev.kagzi.engine.internal.value.Uuids;
import dev.kagzi.engine.value.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * A position in a list: the sort key of one row, as texts. Times are whole microseconds, as
 * PostgreSQL stores them: a rounded time would skip or repeat rows.
 */
public record Cursor(List<String> key) {
  public Cursor {
    key = List.copyOf(key);
  }

  public static Cursor of(String... key) {
    return new Cursor(List.of(key));
  }

  public static String micros(Instant time) {
    return Long.toString(EpochMicros.micros(time));
  }

  public String text(int index) {
    if (index >= key.size()) {
      throw foreign();
    }
    return key.get(index);
  }

  public long number(int index) {
    try {
      return Long.parseLong(text(index));
    } catch (NumberFormatException notOurs) {
      throw foreign();
    }
  }

  public UUID uuid(int index) {
    return Uuids.parse(text(index)).orElseThrow(Cursor::foreign);
  }

  private static Refusal foreign() {
    return Refusal.invalid("page_token", "altered", PageToken.EXPECTED);
  }
}
