package dev.kagzi.engine.page;

/**
 * The requested page of a list.
 *
 * @param size maximum number of rows; 0 is the default, other values are limited to the allowed
 *     range
 * @param token from a page of the same list; empty for the first page
 * @param totalCount also counts the rows of the list, which may scan them
 * @param fromEnd without a token: the last page instead of the first
 */
public record PageSpec(
    int size, String token, boolean totalCount, boolean payloads, boolean fromEnd) {
  private static final int SIZE_DEFAULT = 20;
  private static final int SIZE_MAX = 100;
  public static final PageSpec FIRST = new PageSpec(0, "", false, false);

  public PageSpec {
    size = size == 0 ? SIZE_DEFAULT : Math.clamp(size, 1, SIZE_MAX);
  }

  public PageSpec(int size, String token, boolean totalCount, boolean payloads) {
    this(size, token, totalCount, payloads, false);
  }
}
