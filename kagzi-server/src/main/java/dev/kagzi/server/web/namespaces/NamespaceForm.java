package dev.kagzi.server.web.namespaces;

import dev.kagzi.engine.namespace.NamespaceUpdate;
import dev.kagzi.engine.namespace.NamespaceView;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.TimeText;
import org.jspecify.annotations.Nullable;

/**
 * The fields of the form, as texts.
 *
 * @param retention a length of time, {@code forever}, or empty for the server's default
 */
public record NamespaceForm(String name, String displayName, String description, String retention) {
  private static final String FOREVER = "forever";

  static NamespaceForm of(NamespaceView view) {
    return new NamespaceForm(
        view.namespace(), view.displayName(), view.description(), text(view.retentionMs()));
  }

  /** Returns a retention as the form has it. */
  public static String text(@Nullable Long retentionMs) {
    return retentionMs != null && retentionMs == 0 ? FOREVER : TimeText.text(retentionMs);
  }

  static NamespaceForm sent(PageRequest request) {
    return new NamespaceForm(
        request.form("name"),
        request.form("display_name"),
        request.form("description"),
        request.form("retention"));
  }

  /** Returns how long runs are kept; null for the server's default, 0 for ever. */
  @Nullable Long retentionMs() {
    if (retention.equalsIgnoreCase(FOREVER)) {
      return 0L;
    }
    Long millis = TimeText.millis("retention", retention);
    if (millis != null && millis == 0) {
      throw Refusal.invalid("retention", retention, "a time such as 30d, or forever");
    }
    return millis;
  }

  NamespaceUpdate update() {
    Long retentionMs = retentionMs();
    return new NamespaceUpdate(displayName, description, false, retentionMs, retentionMs == null);
  }
}
