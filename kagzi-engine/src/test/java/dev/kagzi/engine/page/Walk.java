package dev.kagzi.engine.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntSupplier;

/** Reads a list page by page and checks the invariants of every page. */
public final class Walk<T> {
  private final Function<PageSpec, Page<T>> list;
  private final IntSupplier size;
  private final Runnable between;
  private Page<T> last;

  /**
   * Starts before the first page.
   *
   * @param size supplies the maximum size of the next page
   * @param between called before each page but the first
   */
  public Walk(Function<PageSpec, Page<T>> list, IntSupplier size, Runnable between) {
    this.list = list;
    this.size = size;
    this.between = between;
    this.last = new Page<>(List.of(), "", "", false, 0);
  }

  /** Returns all rows from the first page on. */
  public List<T> forward() {
    List<T> all = new ArrayList<>(load("").items());
    assertThat(last.prevToken()).isEmpty();
    while (last.hasMore()) {
      between.run();
      all.addAll(load(last.nextToken()).items());
      assertThat(last.items()).isNotEmpty();
      assertThat(last.prevToken()).startsWith("prev:");
    }
    return all;
  }

  /** Returns all rows before the last page that was read, in the order of the list. */
  public List<T> backward() {
    List<T> all = new ArrayList<>();
    while (!last.prevToken().isEmpty()) {
      between.run();
      all.addAll(0, load(last.prevToken()).items());
      assertThat(last.items()).isNotEmpty();
      assertThat(last.hasMore()).isTrue();
    }
    return all;
  }

  public Page<T> last() {
    return last;
  }

  private Page<T> load(String token) {
    int rows = size.getAsInt();
    last = list.apply(new PageSpec(rows, token, false, false));
    assertThat(last.items()).hasSizeLessThanOrEqualTo(rows);
    assertThat(last.nextToken().isEmpty()).isEqualTo(!last.hasMore());
    if (last.hasMore()) {
      assertThat(last.nextToken()).startsWith("next:");
    }
    return last;
  }
}
