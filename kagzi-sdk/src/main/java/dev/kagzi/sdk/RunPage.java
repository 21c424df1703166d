package dev.kagzi.sdk;

import java.util.List;
import java.util.Optional;

/**
 * One page of a list of runs.
 *
 * @param runs newest first
 * @param nextPageToken for {@link RunList#pageToken}; empty on the last page
 * @param prevPageToken leads back; empty on the first page
 * @param totalCount how many runs match in all, if {@link RunList#totalCount} asked for it
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
