package dev.kagzi.engine.page;

import java.util.List;

/**
 * One page of a list.
 *
 * @param nextToken leads to the rows after these; empty when there are none
 * @param prevToken leads to the rows before these; empty when there are none
 * @param hasMore true when there are rows after these
 * @param totalCount number of rows in the list, limited for filters that need a scan; 0 if it was
 *     not requested
 */
public record Page<T>(
    List<T> items, String nextToken, String prevToken, boolean hasMore, long totalCount) {

  public Page {
    items = List.copyOf(items);
  }
}
