package dev.kagzi.sdk;

import java.util.List;
import java.util.Optional;

/**
 * One page of runs.
 *
 * @param runs newest first
 * @param nextPageToken for {@link RunList#pageToken}; empty on the last page
 * @param prevPageToken for {@link RunList#pageToken}; empty on the first page
 * @param totalCount number of all runs that match, if {@link RunList#totalCount} was called
 */
public record RunPage(
    List<RunInfo> runs,
    Optional<String> nextPageToken,
    Optional<String> prevPageToken,
    Optional<Long> totalCount) {
  public RunPage {
    runs = List.copyOf(runs);
  }
}
