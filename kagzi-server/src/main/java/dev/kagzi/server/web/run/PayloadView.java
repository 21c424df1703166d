package dev.kagzi.server.web.run;

import dev.kagzi.engine.value.Payload;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A payload on a page. Large ones are not shown at once: a link leads to the page that shows them.
 *
 * @param title what it is, such as "Input"
 * @param id of its element, unique on the page
 * @param whole the link to the page that shows it even if it is large
 * @param file the link to its bytes
 */
public record PayloadView(
    String title, String id, State state, Payload payload, String whole, String file) {
  private static final int SHOWN_BYTES_MAX = 16 * 1_024;
  private static final int SHORT_BYTES_MAX = 80;

  // Set by the SDK's AesGcmTransform. The server has no keys.
  private static final String KEY_ID = "kagzi-key-id";

  /** How a payload is shown. */
  public enum State {
    NONE,
    SHOWN,
    /** Too large for this page, or left out of a list for its size. */
    ELSEWHERE,
    ENCRYPTED
  }

  /** Where a payload is shown, and its links. */
  record Place(String title, String id, String whole, String file) {
    private PayloadView view(State state, Payload payload) {
      return new PayloadView(title, id, state, payload, whole, file);
    }
  }

  /** A payload that is shown if it is small. */
  static PayloadView bounded(Place place, @Nullable Payload payload) {
    return payload != null && payload.data().length > SHOWN_BYTES_MAX && !isEncrypted(payload)
        ? place.view(State.ELSEWHERE, payload)
        : whole(place, payload);
  }

  /** A payload of a list, which leaves out the bytes of large ones. */
  static PayloadView listed(Place place, @Nullable Payload payload, boolean isKnownToExist) {
    boolean exists = payload != null && (isKnownToExist || !payload.isEmpty());
    return exists && payload != null && payload.data().length == 0 && !isEncrypted(payload)
        ? place.view(State.ELSEWHERE, payload)
        : bounded(place, payload);
  }

  /** A payload that is shown also if it is large. */
  static PayloadView whole(Place place, @Nullable Payload payload) {
    if (payload == null || payload.isEmpty()) {
      return place.view(State.NONE, Payload.EMPTY);
    }
    return place.view(isEncrypted(payload) ? State.ENCRYPTED : State.SHOWN, payload);
  }

  private static boolean isEncrypted(Payload payload) {
    return payload.metadata().containsKey(KEY_ID);
  }

  public int bytes() {
    return payload.data().length;
  }

  /** Returns the id of the key that an encrypted payload needs. */
  public String keyId() {
    return payload.metadata().getOrDefault(KEY_ID, "");
  }

  /** Returns the metadata that users or other clients have set, sorted. */
  public Map<String, String> metadata() {
    Map<String, String> sorted = new TreeMap<>(payload.metadata());
    sorted.remove(KEY_ID);
    return sorted;
  }

  /** Returns whether it is short enough for a line of a table. */
  public boolean isShort() {
    return state == State.SHOWN
        && bytes() <= SHORT_BYTES_MAX
        && payload.metadata().isEmpty()
        && !text().isEmpty();
  }

  /** Returns what a copy button copies; empty if the payload is not text. */
  public String text() {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(payload.data());
      return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
    } catch (CharacterCodingException binary) {
      return "";
    }
  }
}
