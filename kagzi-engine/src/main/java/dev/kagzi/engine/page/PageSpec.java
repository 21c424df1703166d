package dev.kagzi.engine.page;

/**
 * Which page of a list is wanted.
 *
 * @param size rows at most; 0 is the default, anything else is brought within bounds
 * @param token from a page of the same list; empty for the first page
 * @param totalCount counts all rows of the list too, which costs a walk over them
 * @param payloads large payloads are wanted as well
 */
public record PageSpec(int size, String token, boolean totalCount, boolean payloads) {
  private static final int SIZE_DEFAULT = 20;
  private static final int SIZE_MAX = 100;

  /** The first page, of the default size. */
  public static final PageSpec FIRST = new PageSpec(0, "", false, false);

  public PageSpec {
    size = size == 0 ? SIZE_DEFAULT : Math.clamp(size, 1, SIZE_MAX);
  }
}
