package dev.kagzi.sdk;

import java.util.List;

/** Gives results of branches their types back. */
final class Together {
  private Together() {}

  // Each branch's result is of the branch's own type.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  static <T> T at(List<?> results, int index) {
    return (T) results.get(index);
  }
}
