package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ErrorDetail;
import java.util.List;
import java.util.Optional;

/** Errors as people read them. */
final class ErrorText {
  private static final List<String> NOT_THE_USERS =
      List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "dev.kagzi.sdk.");

  private ErrorText() {}

  /** {@code NETWORK java.net.ConnectException: refused}, as far as it is known. */
  static String of(ErrorDetail error) {
    String kind = error.getMetadataOrDefault("kind", "UNKNOWN");
    String type = error.getMetadataOrDefault("type", "");
    String message = error.getMessage();
    // An exception without a message says its class, and a terminated run says so itself.
    boolean saysType = message.equals(type) || message.startsWith(type + ": ");
    return (kind.equals("UNKNOWN") ? "" : kind + " ")
        + (type.isEmpty() || saysType ? "" : type + ": ")
        + message;
  }

  /** Its causes, from the outside in. */
  static List<String> causes(ErrorDetail error) {
    return error.getMetadataOrDefault("cause", "").lines().toList();
  }

  /** The first place in the user's own code, also of a cause; -o json has all of it. */
  static String place(ErrorDetail error) {
    List<String> frames =
        error
            .getMetadataOrDefault("stack", "")
            .lines()
            .map(String::strip)
            .filter(line -> line.startsWith("at "))
            .toList();
    Optional<String> own = frames.stream().filter(ErrorText::isTheUsers).findFirst();
    return own.or(() -> frames.stream().findFirst()).orElse("");
  }

  /** {@code at app//com.example.Orders.charge(Orders.java:42)}: loader and module come first. */
  private static boolean isTheUsers(String frame) {
    int call = frame.indexOf('(');
    String before = call < 0 ? frame : frame.substring(0, call);
    String method = before.substring(Math.max("at ".length(), before.lastIndexOf('/') + 1));
    return NOT_THE_USERS.stream().noneMatch(method::startsWith);
  }
}
