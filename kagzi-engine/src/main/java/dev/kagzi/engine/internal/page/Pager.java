package dev.kagzi.engine.internal.page;

import dev.kagzi.engine.internal.page.PageToken.Direction;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads pages of a list that is sorted by a unique key. It reads one row more than requested and
 * checks for a row in the other direction, so that a page has a token only if it leads to rows.
 */
public final class Pager {
  private Pager() {}

  /**
   * One row of a list.
   *
   * @param fits false for the first row that would exceed the page's byte limit, and for all rows
   *     after it
   */
  public record Found<T>(T item, Cursor cursor, boolean fits) {}

  public interface Source<T> {
    /**
     * Returns rows beyond the cursor, nearest first.
     *
     * @param from null for the beginning of the list
     * @param forward true towards the end of the list, false towards its beginning
     */
    List<Found<T>> rows(@Nullable Cursor from, boolean forward, int rowsMax) throws SQLException;

    default boolean isAny(Cursor from, boolean forward) throws SQLException {
      return !rows(from, forward, 1).isEmpty();
    }

    long count() throws SQLException;
  }

  /** Reads one page. {@code list} identifies list and filters; a token of another is refused. */
  public static <T> Page<T> page(PageSpec spec, String list, Source<T> source) throws SQLException {
    PageToken token = spec.token().isEmpty() ? null : PageToken.parse(spec.token(), list);
    boolean forward = token == null ? !spec.fromEnd() : token.direction() == Direction.NEXT;
    List<Found<T>> rows =
        source.rows(token == null ? null : token.cursor(), forward, spec.size() + 1);
    List<Found<T>> kept = new ArrayList<>(rows.subList(0, fitting(rows, spec.size())));
    boolean beyond = rows.size() > kept.size();
    if (!forward) {
      Collections.reverse(kept);
    }
    long total = spec.totalCount() ? source.count() : 0;
    if (kept.isEmpty()) {
      return new Page<>(List.of(), "", "", false, total);
    }
    Cursor first = kept.get(0).cursor();
    Cursor last = kept.get(kept.size() - 1).cursor();
    boolean before = forward ? token != null && source.isAny(first, false) : beyond;
    boolean after = forward ? beyond : source.isAny(last, true);
    return new Page<>(
        kept.stream().map(Found::item).toList(),
        after ? new PageToken(Direction.NEXT, last).encode(list) : "",
        before ? new PageToken(Direction.PREV, first).encode(list) : "",
        after,
        total);
  }

  private static int fitting(List<? extends Found<?>> rows, int rowsMax) {
    int count = 0;
    while (count < rows.size() && count < rowsMax && rows.get(count).fits()) {
      count++;
    }
    return count;
  }
}
