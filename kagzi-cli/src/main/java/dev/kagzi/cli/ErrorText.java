package dev.kagzi.cli;

import dev.kagzi.protocol.v1.ErrorDetail;
import java.util.List;
import java.util.Optional;

final class ErrorText {
  private static final List<String> NOT_THE_USERS =
      List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "dev.kagzi.sdk.");

  private ErrorText() {}

  /** Formats an error: {@code NETWORK java.net.ConnectException: refused}. */
  static String of(ErrorDetail error) {
    String kind = error.getMetadataOrDefault("kind", "UNKNOWN");
    String type = error.getMetadataOrDefault("type", "");
    String message = error.getMessage();
    // Exceptions without a message, and terminated runs, already have the type in the message.
    boolean messageHasType = message.equals(type) || message.startsWith(type + ": ");
    return (kind.equals("UNKNOWN") ? "" : kind + " ")
        + (type.isEmpty() || messageHasType ? "" : type + ": ")
        + message;
  }

  /** Returns the causes, outermost first. */
  static List<String> causes(ErrorDetail error) {
    return error.getMetadataOrDefault("cause", "").lines().toList();
  }

  /**
   * Returns the first stack frame in the user's code, of the exception or of a cause. If there is
   * none, returns the first frame of all. {@code -o json} shows the whole stack.
   */
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

  /**
   * Frames may start with loader and module: {@code at
   * app//com.example.Orders.charge(Orders.java:42)}.
   */
  private static boolean isTheUsers(String frame) {
    int call = frame.indexOf('(');
    String before = call < 0 ? frame : frame.substring(0, call);
    String method = before.substring(Math.max("at ".length(), before.lastIndexOf('/') + 1));
    return NOT_THE_USERS.stream().noneMatch(method::startsWith);
  }
}
